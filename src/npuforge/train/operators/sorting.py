# SPDX-License-Identifier: Apache-2.0
"""Sorted rows, the largest of each, where they stand, and what is computed from them."""

from __future__ import annotations

from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables


def sorting(sketch: Sketch) -> list[str]:
    """Work on short rows, their order, and work on what came out of it."""
    rng, offered, calm = sketch.rng, tables().order, tables().calm
    dtype = sketch.float_type()
    shape = [sketch.extent(2, 256), sketch.extent(8, 512)]
    if rng.random() < 0.3:
        shape.insert(0, rng.choice((2, 3, 4)))
    kept = rng.choice((1, 2, 3, 4, 5, 8))
    if rng.random() < 0.2:
        dtype = rng.choice(("int32", "int32", "int64", "int16", "int8", "uint8"))
        value = sketch.tensor(shape, dtype, "whole")
        return [sketch.let(sketch.fill(rng.choice(offered.whole), a=value, q=kept))]
    value = sketch.tensor(shape, dtype)
    if rng.random() < 0.5:
        template = rng.choice([*calm.binary, *calm.unary])
        names = {"a": value}
        if "{b}" in template:
            names["b"] = sketch.tensor(shape if rng.random() < 0.5 else shape[-1:], dtype)
        value = sketch.let(sketch.fill(template, **names))
    kind = rng.random()
    if kind < 0.25:  # places only
        made = sketch.let(sketch.fill(rng.choice(offered.places), a=value, q=kept))
        if rng.random() < 0.5:
            made = sketch.let(sketch.fill(rng.choice(offered.counted), t=made, q=kept))
        return [made]
    if kind < 0.45:  # both
        found = sketch.let(sketch.fill(rng.choice(offered.both), a=value, q=kept))
        made = sketch.let(sketch.fill(rng.choice(calm.unary), a=f"{found}.values"))
        return [made, f"{found}.indices"]
    if kind < 0.6:  # the rows themselves against one of their elements
        made = sketch.let(sketch.fill(rng.choice(offered.bounds), a=value, q=kept))
        template = rng.choice(tables().statistic.applied)
        names = {"a": value, "s": made, "r": made}
        if "{b}" in template:
            names["b"] = sketch.tensor(shape[-1:], dtype)
        value = sketch.let(sketch.fill(template, **names))
    else:
        value = sketch.let(sketch.fill(rng.choice(offered.values), a=value, q=kept))
        for _ in range(rng.choice((0, 1, 2))):
            value = sketch.let(sketch.fill(rng.choice(calm.unary), a=value))
    if rng.random() < 0.5:
        template = rng.choice((*tables().statistic.one, *tables().norm.along, *tables().scan.along))
        value = sketch.let(sketch.fill(template, a=value, d=-1, keep=rng.random() < 0.4))
    return [value]
