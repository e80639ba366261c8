# SPDX-License-Identifier: Apache-2.0
"""Losses of several terms: distances, likelihoods, penalties, each folded, then weighed."""

from __future__ import annotations

from npuforge.train.operators.axes import some_axes, spelled
from npuforge.train.operators.masks import mask
from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables


def terms(sketch: Sketch) -> list[str]:
    """Two or three terms of the same tensors: numbers for each row that are averaged together, or
    numbers of everything that are added."""
    rng, offered = sketch.rng, tables().terms
    shape = sketch.shape(rng.choice((2, 2, 3, 4)), most=1 << 20)
    dtype = rng.choice(("float32", "float32", "float16", "bfloat16"))
    one, two = (sketch.tensor(shape, dtype) for _ in range(2))
    weight = sketch.tensor(shape[-1:] if rng.random() < 0.6 else shape, dtype)
    by_rows = rng.random() < 0.5
    axes = spelled(rng, some_axes(rng, len(shape)), len(shape))
    held = mask(sketch, shape, one, dtype) if rng.random() < 0.4 else None
    found: list[str] = []
    for _ in range(rng.choice((2, 2, 3))):
        each = sketch.let(sketch.fill(rng.choice(offered.each), a=one, b=two, w=weight))
        if held is not None and rng.random() < 0.6:
            each = sketch.let(f"torch.where({held}, {each}, 0.0)")
        folded = rng.choice(offered.rows if by_rows else offered.all)
        found.append(sketch.let(sketch.fill(folded, a=each, d=axes)))
    total = found[0]
    for other in found[1:]:
        total = sketch.let(sketch.fill(rng.choice(offered.weighed), a=total, b=other))
    if by_rows and rng.random() < 0.6:
        total = sketch.let(sketch.fill(rng.choice(offered.all), a=total))
    return [total, found[0]] if rng.random() < 0.15 else [total]
