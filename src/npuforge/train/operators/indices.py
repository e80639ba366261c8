# SPDX-License-Identifier: Apache-2.0
"""Reading and adding at places that a tensor names: rows of a table, elements of rows, classes."""

from __future__ import annotations

from npuforge.train.operators.axes import some_axes, spelled
from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables


def indices(sketch: Sketch) -> list[str]:
    """Work on a table, places taken from it, and work on what was taken."""
    rng, calm = sketch.rng, tables().calm
    dtype = sketch.float_type()
    shape = [sketch.extent(4, 1024), sketch.extent(4, 1024)]
    table = sketch.tensor(shape, dtype)
    if rng.random() < 0.35:
        table = sketch.let(sketch.fill(rng.choice(calm.unary), a=table))
    kind = rng.random()
    if kind < 0.3:
        value, shape = _rows(sketch, table, shape)
    elif kind < 0.45:
        value, shape = _picked(sketch, dtype)
    elif kind < 0.7:
        value, shape = _elements(sketch, table, shape)
    elif kind < 0.85:
        value = _classes(sketch, table, shape, dtype)
    else:
        value = _added(sketch, table, shape, dtype)
    for _ in range(rng.choice((0, 1, 1, 2))):
        if rng.random() < 0.5:
            value = sketch.let(sketch.fill(rng.choice(calm.unary), a=value))
        else:
            other = sketch.tensor(shape if rng.random() < 0.5 else shape[-1:], dtype)
            value = sketch.let(sketch.fill(rng.choice(calm.binary), a=value, b=other))
    if rng.random() < 0.4:
        axes = spelled(rng, some_axes(rng, len(shape)), len(shape))
        template = rng.choice(tables().statistic.one)
        keep = rng.random() < 0.4
        value = sketch.let(sketch.fill(template, a=value, d=axes, keep=keep))
    return [value]


def _places(sketch: Sketch, shape: list[int], below: int) -> str:
    return sketch.tensor(shape, sketch.rng.choice(("int64", "int64", "int32")), f"index:{below}")


def _rows(sketch: Sketch, table: str, shape: list[int]) -> tuple[str, list[int]]:
    """Whole rows or columns, by one list of places or by two."""
    rng, offered = sketch.rng, tables().taken
    if rng.random() < 0.3:
        count = sketch.extent(2, 256)
        chosen = _places(sketch, [count], shape[1])
        made = sketch.fill(rng.choice(offered.columns), a=table, t=chosen)
        return sketch.let(made), [shape[0], count]
    named = (
        [sketch.extent(2, 256)]
        if rng.random() < 0.6
        else [sketch.extent(2, 32), sketch.extent(2, 32)]
    )
    template = rng.choice(offered.rows)
    names = {"a": table, "t": _places(sketch, named, shape[0])}
    if "{u}" in template:
        names["u"] = _places(sketch, named, shape[0])
    return sketch.let(sketch.fill(template, **names)), [*named, shape[1]]


def _elements(sketch: Sketch, table: str, shape: list[int]) -> tuple[str, list[int]]:
    """Some elements of each row; with one of each, the row may go on with it."""
    rng, offered = sketch.rng, tables().taken
    if rng.random() < 0.5:
        count = rng.choice((2, 3, 4, 8, 16, shape[1]))
        chosen = sketch.tensor([shape[0], count], "int64", f"index:{shape[1]}")
        made = sketch.fill(rng.choice(offered.elements), a=table, t=chosen)
        return sketch.let(made), [shape[0], count]
    chosen = sketch.tensor([shape[0], 1], "int64", f"index:{shape[1]}")
    made = sketch.fill(rng.choice(offered.single), a=table, t=chosen)
    return sketch.let(made), shape


def _picked(sketch: Sketch, dtype: str) -> tuple[str, list[int]]:
    """One place of each row, or of each of several tables."""
    rng = sketch.rng
    shape = [sketch.extent(2, 256), sketch.extent(4, 256)]
    inner = [sketch.extent(4, 1024)] if rng.random() < 0.7 else []
    table = sketch.tensor([*shape, *inner], dtype)
    template = rng.choice(tables().taken.picked)
    names = {"a": table, "t": _places(sketch, shape[:1], shape[1])}
    if "{u}" in template:
        names["u"] = _places(sketch, shape[:1], shape[1])
    return sketch.let(sketch.fill(template, **names)), [shape[0], *inner]


def _classes(sketch: Sketch, table: str, shape: list[int], dtype: str) -> str:
    """Each row by its class: where the place is the one that is named."""
    chosen = _places(sketch, [shape[0], 1], shape[1])
    hot = sketch.let(f"torch.arange({table}.shape[-1]) == {chosen}")
    template = sketch.rng.choice(tables().mask.used)
    names: dict[str, object] = {"a": table, "m": hot, "d": -1}
    if "{b}" in template:
        names["b"] = sketch.tensor(shape[-1:], dtype)
    return sketch.let(sketch.fill(template, **names))


def _added(sketch: Sketch, table: str, shape: list[int], dtype: str) -> str:
    """Rows put or added where a list says."""
    count = sketch.extent(2, 128)
    chosen = sketch.tensor([count], "int64", f"index:{shape[0]}")
    given = sketch.tensor([count, shape[1]], dtype)
    if sketch.rng.random() < 0.4:
        given = sketch.let(sketch.fill(sketch.rng.choice(tables().calm.unary), a=given))
    made = sketch.fill(sketch.rng.choice(tables().taken.added), a=table, t=chosen, b=given)
    return sketch.let(made)
