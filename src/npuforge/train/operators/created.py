# SPDX-License-Identifier: Apache-2.0
"""Tensors made of nothing, or of a number: ranges, diagonals, triangles, places that are told."""

from __future__ import annotations

from npuforge.train.operators.graphs import chain
from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables

_LEADING = (2, 3, 5, 8, 16)


def created(sketch: Sketch) -> list[str]:
    """One such tensor alone, repeated along axes in front, or against a tensor of its shape."""
    rng, offered = sketch.rng, tables().create
    kind = rng.random()
    if kind < 0.3:  # of a line
        count = sketch.extent(4, 4096)
        value = _made(sketch, rng.choice(offered.line), n=count, s=rng.choice((1, 1, 2, 3)))
        shape = [count]
    elif kind < 0.6:  # of rows and columns
        shape = [sketch.extent(4, 1024), sketch.extent(4, 1024)]
        if rng.random() < 0.5:
            shape[1] = shape[0]
        value = _made(sketch, rng.choice(offered.square), n=shape[0], m=shape[1])
    elif kind < 0.8:  # of a number
        shape = sketch.shape(rng.choice((1, 2, 3)), most=1 << 18)
        one, dtype = rng.choice(((1,), ())), rng.choice((sketch.float_type(), "int32"))
        number = sketch.tensor(one, dtype, "whole" if dtype == "int32" else "randn")
        value = _made(sketch, rng.choice(offered.number), a=number, l=shape)
    else:  # of places
        rows, classes = sketch.extent(4, 8192), sketch.extent(4, 256)
        shape = [rows, classes]
        told = sketch.tensor([rows], rng.choice(("int64", "int64", "int32")), f"index:{classes}")
        value = _made(sketch, rng.choice(offered.told), t=told, n=classes)
    kind = rng.random()
    if kind < 0.25:
        leading = rng.choice(_LEADING)
        return [sketch.let(f"{value}.expand({leading}, {', '.join(map(str, shape))})")]
    if kind < 0.5:
        other = sketch.tensor(shape, "float32")
        value = sketch.let(sketch.fill(rng.choice(tables().calm.binary), a=value, b=other))
        return [chain(sketch, value, rng.choice((0, 0, 1)))]
    return [value]


def _made(sketch: Sketch, template: str, **names: object) -> str:
    rng = sketch.rng
    value = sketch.let(sketch.fill(template, q=rng.choice((2, 3, 4, 5, 8)), **names))
    kind = rng.random()
    if kind < 0.35:
        return value
    if kind < 0.7:
        return sketch.let(f"{value}.to(torch.{rng.choice(('float32', 'float16', 'int32'))})")
    return sketch.let(sketch.fill("{a} * {k}", a=value))
