# SPDX-License-Identifier: Apache-2.0
"""The same few steps on each of four to eight tensors, with results and numbers of its own."""

from __future__ import annotations

from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables

_OPERATIONS = 9  # steps in all, over all tensors: a longer program is not learned from


def updates(sketch: Sketch) -> list[str]:
    """Steps are drawn once, over slots of values, and then written for every tensor."""
    rng, offered, dtype = sketch.rng, tables().update, sketch.float_type()
    count = rng.choice((4, 4, 4, 5, 5, 6, 7, 8))
    number = _number(sketch, count, dtype) if count < 7 else None
    room = max(1, _OPERATIONS // count - (number is not None))
    kinds = rng.choice((1, 2, 2, room + 1))  # tensors that belong together
    steps: list[tuple[str, int, int]] = []  # a template, and the slots that it reads
    for place in range(max(kinds - 1, rng.randint(1, room))):
        slots = kinds + place
        first = slots - 1 if place else 0
        other = place + 1 if place + 1 < kinds else rng.randrange(slots)
        template = rng.choice(offered.one if other == first else offered.two)
        # Numbers are drawn once: they are the same for every tensor.
        steps.append((sketch.fill(template, a="{a}", b="{b}"), first, other))
    last = kinds + len(steps) - 1
    returned = [last]
    if len(steps) > 1 and number is None and rng.random() < 0.6:
        returned.append(last - 1)
    scaled = rng.choice(offered.scaled)
    fold = rng.choice(tables().fold.total) if count < 6 and len(steps) == 1 else None
    folds = rng.random() < 0.2
    results: list[str] = []
    for item in range(count):
        shape = sketch.shape(rng.choice((1, 2, 2, 3)), most=1 << 18)
        values = [sketch.tensor(shape, dtype) for _ in range(kinds)]
        for template, first, other in steps:
            values.append(sketch.let(template.format(a=values[first], b=values[other])))
        if number is not None:
            given = number.format(item)
            values[last] = sketch.let(scaled.format(a=values[last], b=values[0], s=given))
        elif folds and fold is not None:
            values[last] = sketch.let(sketch.fill(fold, a=values[last]))
        results += [values[slot] for slot in returned]
    return results


def _number(sketch: Sketch, count: int, dtype: str) -> str | None:
    """How the number of each tensor is read, where there is one: one for all, or one for each."""
    kind = sketch.rng.random()
    if kind < 0.45:
        return None
    if kind < 0.6:
        return sketch.tensor([], dtype)
    if kind < 0.75:
        return sketch.tensor([1], dtype)
    return sketch.tensor([count], sketch.rng.choice((dtype, "float32"))) + "[{}]"
