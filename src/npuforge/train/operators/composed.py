# SPDX-License-Identifier: Apache-2.0
"""Operators of several stages, as blocks of networks are: norms, masks, halves, moves, one after
the other, and at times a fold or another layout at the end."""

from __future__ import annotations

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
