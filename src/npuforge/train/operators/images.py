# SPDX-License-Identifier: Apache-2.0
"""Images: made larger and smaller, blocks of them taken as channels, turned over and rolled."""

from __future__ import annotations

from npuforge.train.operators.graphs import chain
from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables


def images(sketch: Sketch) -> list[str]:
    """One or two such steps, with some element by element before and after."""
    rng, offered = sketch.rng, tables().image
    scale = rng.choice((2, 2, 2, 3))
    planes = [rng.choice((1, 2, 4, 6)), scale * scale * rng.choice((1, 2, 3, 4, 8))]
    shape = [*planes, *(2 * scale * rng.randint(2, 24) for _ in range(2))]
    dtype = rng.choice((sketch.float_type(), sketch.float_type(), "int16", "int32"))
    whole = dtype.startswith("int")
    value = sketch.tensor(shape, dtype, "whole" if whole else "randn")
    if not whole:
        value = chain(sketch, value, rng.choice((0, 0, 0, 1)))
    steps = offered.moved if whole or rng.random() < 0.7 else offered.sized
    names = {"s": scale, "q": rng.choice((1, 2, 3))}
    height, width = (rng.randint(extent // 2, 2 * extent) for extent in shape[2:])
    value = sketch.let(sketch.fill(rng.choice(steps), a=value, h=height, w=width, **names))
    if whole:
        return [value]
    return [chain(sketch, value, rng.choice((0, 0, 1, 1, 2)))]
