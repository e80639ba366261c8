# SPDX-License-Identifier: Apache-2.0
"""Operators of several stages, as blocks of networks are: norms, masks, halves, moves, one after
the other, and at times a fold or another layout at the end."""

from __future__ import annotations

import random

from npuforge.train.operators.graphs import chain
from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables


def composed(sketch: Sketch) -> list[str]:
    """One to three stages over one shape, and often an end that has another."""
    rng = sketch.rng
    stage = _Stage(sketch, _even(sketch.shape(rng.choice((2, 2, 3, 3, 4)), most=1 << 22)))
    value = sketch.tensor(stage.shape, stage.dtype)
    results: list[str] = []
    for _ in range(rng.choice((1, 2, 2, 3))):
        value = chain(sketch, value, rng.choice((0, 0, 1)))
        value = stage.put(rng.choice(tables().stage.same), value)
        if rng.random() < 0.12:
            results.append(value)
    if rng.random() < 0.12:  # a sum for each column beside it, as gradients have
        results.append(stage.put(rng.choice(tables().stage.column), value))
    if rng.random() < 0.5:
        value = stage.put(rng.choice(tables().stage.end), value)
    elif rng.random() < 0.6:
        value = chain(sketch, value, rng.choice((1, 2)))
    return list(dict.fromkeys([*results, value]))


def layout(sketch: Sketch) -> list[str]:
    """Axes in another order, split and put together."""
    rng = sketch.rng
    shape = sketch.shape(rng.choice((3, 3, 4, 4)), most=1 << 21)
    split = rng.random() < 0.5
    if split:  # the last axis becomes two
        heads = rng.choice((2, 2, 3, 4, 8))
        shape[-1] = heads * max(1, shape[-1] // heads)
    dtype = sketch.float_type()
    value = chain(sketch, sketch.tensor(shape, dtype), rng.choice((0, 0, 1)))
    if split:
        value = sketch.let(f"{value}.unflatten(-1, ({heads}, {shape[-1] // heads}))")
        shape = [*shape[:-1], heads, shape[-1] // heads]
    order = _order(rng, len(shape))
    value = sketch.let(f"{value}.permute({', '.join(map(str, order))})")
    shape = [shape[axis] for axis in order]
    kind = rng.random()
    if kind < 0.4:
        first = rng.randrange(len(shape) - 1)
        value = sketch.let(f"{value}.flatten({first}, {first + 1})")
    elif kind < 0.6:
        other = sketch.tensor(shape[-1:], dtype)
        value = sketch.let(f"{value} {rng.choice('+*')} {other}")
    elif kind < 0.75:
        value = sketch.let(sketch.fill(rng.choice(tables().norm.along), a=value, d=-1))
    return [chain(sketch, value, rng.choice((0, 0, 1)))]


class _Stage:
    """What templates may ask for besides the value: {b} a tensor like it, {w} one number for each
    of the last axis, {r} one for each row, {d} an axis, {n} and {h} the last extent and half."""

    def __init__(self, sketch: Sketch, shape: list[int]) -> None:
        self.sketch, self.shape, self.dtype = sketch, shape, sketch.float_type()

    def put(self, template: str, value: str) -> str:
        shapes = {"b": self.shape, "w": self.shape[-1:], "r": [*self.shape[:-1], 1]}
        given = {
            key: self.sketch.tensor(shape, self._dtype(key))
            for key, shape in shapes.items()
            if "{" + key + "}" in template
        }
        last = self.shape[-1]
        axis = -1 if self.sketch.rng.random() < 0.7 else self.sketch.rng.randrange(len(self.shape))
        return self.sketch.let(
            self.sketch.fill(template, a=value, d=axis, n=last, h=last // 2, **given)
        )

    def _dtype(self, key: str) -> str:
        """Statistics and weights are in float32 at times."""
        if key != "b" and self.sketch.rng.random() < 0.25:
            return "float32"
        return self.dtype


def _even(shape: list[int]) -> list[int]:
    """The last axis can be halved."""
    return [*shape[:-1], 2 * max(2, shape[-1] // 2)]


def _order(rng: random.Random, rank: int) -> list[int]:
    """Another order than the one there is; mostly two axes change places, as in networks."""
    order = list(range(rank))
    if rng.random() < 0.6:
        one, two = rng.sample(order, 2)
        order[one], order[two] = two, one
        return order
    while order == sorted(order):
        rng.shuffle(order)
    return order
