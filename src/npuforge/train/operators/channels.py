# SPDX-License-Identifier: Apache-2.0
"""Numbers of channels against images and sequences: the axis that they share is not the last."""

from __future__ import annotations

from npuforge.train.operators.graphs import graph
from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables


def channels(sketch: Sketch) -> list[str]:
    """Element-wise work of a tensor and vectors with a number for each channel; at the end what
    it comes to may be folded over what a channel holds."""
    rng, dtype = sketch.rng, sketch.float_type()
    inner = sketch.shape(rng.choice((1, 1, 2, 2)), most=1 << 14)
    shape = [rng.choice((1, 2, 3, 4, 8, 16, 32)), sketch.extent(2, 512), *inner]
    values = [sketch.tensor(shape, dtype) for _ in range(rng.choice((1, 1, 1, 2)))]
    values += [
        _vector(sketch, shape, rng.choice((dtype, dtype, dtype, "float32")))
        for _ in range(rng.choice((1, 2, 2, 3)))
    ]
    made = graph(sketch, values, rng.choice((1, 2, 3, 4)))
    if rng.random() < 0.25:
        axes = rng.choice((-1, tuple(range(2, len(shape)))))
        template = rng.choice(tables().fold.number)
        made = sketch.let(sketch.fill(template, a=made, d=axes, keep=rng.random() < 0.4))
    return [made]


def _vector(sketch: Sketch, shape: list[int], dtype: str) -> str:
    """A number for each channel, or for each channel of each image, ready to meet the tensor."""
    rng, count = sketch.rng, shape[1]
    after = len(shape) - 2
    if rng.random() < 0.2:
        return sketch.tensor([*shape[:2], *[1] * after], dtype)
    kind = rng.random()
    if kind < 0.25:
        return sketch.tensor([count, *[1] * after], dtype)
    vector = sketch.tensor([count], dtype)
    if kind < 0.5:
        return sketch.let(f"{vector}[:{', None' * after}]")
    if kind < 0.75:
        return sketch.let(f"{vector}.view(1, -1{', 1' * after})")
    return sketch.let(f"{vector}.reshape(-1{', 1' * after})")
