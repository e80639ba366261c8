# SPDX-License-Identifier: Apache-2.0
"""Masks that fit a value: given ones, comparisons, places in a row, triangles, lengths, groups,
and two of these together."""

from __future__ import annotations

from collections.abc import Sequence

from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables

_JOINED = 0.2


def mask(sketch: Sketch, shape: Sequence[int], value: str, dtype: str) -> str:
    """The name of a mask that is spread over the value, or is as large."""
    first = _simple(sketch, shape, value, dtype)
    if sketch.rng.random() < _JOINED:
        second = _simple(sketch, shape, value, dtype)
        template = sketch.rng.choice(tables().mask.joined)
        return sketch.let(sketch.fill(template, m=first, n=second))
    return first


def _simple(sketch: Sketch, shape: Sequence[int], value: str, dtype: str) -> str:
    rng, offered = sketch.rng, tables().mask
    kind = rng.random()
    rank = len(shape)
    if kind < 0.25:
        return sketch.tensor(_some_of(sketch, shape), "bool", "bool")
    if kind < 0.45:
        other = sketch.tensor(_some_of(sketch, shape), dtype)
        return sketch.let(sketch.fill(rng.choice(offered.compared), a=value, b=other))
    names: dict[str, object] = {
        "a": value,
        "q": rng.choice((2, 3, 4, 5, 8)),
        "j": f"torch.arange({value}.shape[-1])",
    }
    if kind < 0.6 or rank == 1:
        return sketch.let(sketch.fill(rng.choice(offered.places), **names))
    names["i"] = f"torch.arange({value}.shape[-2]).unsqueeze(-1)"
    if kind < 0.8:
        return sketch.let(sketch.fill(rng.choice(offered.triangles), **names))
    whole = rng.choice(("int32", "int64", "int32"))
    if kind < 0.92:
        rows = [1 if rng.random() < 0.3 else extent for extent in shape[:-1]]
        names["l"] = sketch.tensor([*rows, 1], whole, f"index:{shape[-1]}")
        return sketch.let(sketch.fill(rng.choice(offered.lengths), **names))
    names["g"] = sketch.tensor([shape[-2], 1], whole, "index:4")
    names["h"] = sketch.tensor([shape[-1]], whole, "index:4")
    return sketch.let(sketch.fill(rng.choice(offered.groups), **names))


def _some_of(sketch: Sketch, shape: Sequence[int]) -> list[int]:
    """The whole shape, or its last axes, or some axes with ones between them."""
    rng = sketch.rng
    kind = rng.random()
    if kind < 0.45:
        return list(shape)
    if kind < 0.7:
        return list(shape[rng.randrange(len(shape)) :])
    return [extent if rng.random() < 0.6 else 1 for extent in shape]
