# SPDX-License-Identifier: Apache-2.0
"""Parts of one tensor that are treated differently and meet again: gates, rotations, pairs."""

from __future__ import annotations

from npuforge.train.operators.graphs import chain, graph
from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables

_GATES = ("torch.sigmoid({0}) * {1}", "F.silu({0}) * {1}", "F.gelu({0}) * {1}", "{0} * {1}.tanh()")


def parts(sketch: Sketch) -> list[str]:
    """A tensor in equal parts along an axis, work on each, and what they come to together."""
    rng = sketch.rng
    count = rng.choice((2, 2, 2, 2, 3, 4))
    shape = sketch.shape(rng.choice((2, 2, 3, 3)), most=1 << 20)
    axis = len(shape) - 1 if rng.random() < 0.75 else rng.randrange(len(shape))
    shape[axis] = count * max(2, shape[axis] // count)
    whole = chain(sketch, sketch.tensor(shape, sketch.float_type()), rng.choice((0, 0, 0, 1)))
    found = [
        chain(sketch, part, rng.choice((0, 0, 1, 1, 2)))
        for part in _cut(sketch, whole, shape, axis, count)
    ]
    kind = rng.random()
    if kind < 0.3:
        gate = rng.choice(_GATES).format(found[0], found[1])
        return [graph(sketch, [sketch.let(gate), *found[2:]], rng.choice((0, 1, 2)))]
    if kind < 0.5:
        rng.shuffle(found)
        return [sketch.let(f"torch.cat([{', '.join(found)}], {axis})")]
    if kind < 0.65:
        return found
    made = graph(sketch, found, rng.choice((1, 2, 3)))
    if rng.random() < 0.3:
        template = rng.choice(tables().fold.number)
        made = sketch.let(sketch.fill(template, a=made, d=-1, keep=rng.random() < 0.4))
    return [made]


def _cut(sketch: Sketch, whole: str, shape: list[int], axis: int, count: int) -> list[str]:
    """The parts, in one of the ways in which people write it."""
    rng, size = sketch.rng, shape[axis] // count
    kind = rng.random()
    if kind < 0.35:
        pieces = sketch.let(f"{whole}.chunk({count}, {rng.choice((axis, axis - len(shape)))})")
        return [f"{pieces}[{place}]" for place in range(count)]
    if kind < 0.7:
        before = ":, " * axis
        return [
            sketch.let(f"{whole}[{before}{place * size}:{(place + 1) * size}]")
            for place in range(count)
        ]
    inner = sketch.let(f"{whole}.unflatten({axis}, ({count}, {size}))")
    if kind < 0.85:
        return [sketch.let(f"{inner}.select({axis}, {place})") for place in range(count)]
    pieces = sketch.let(f"{inner}.unbind({axis})")
    return [f"{pieces}[{place}]" for place in range(count)]
