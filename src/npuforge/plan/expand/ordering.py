# SPDX-License-Identifier: Apache-2.0
"""Sorting and the largest elements of rows."""

from __future__ import annotations

from typing import Any

from npuforge.plan.arith import cast, is_float
from npuforge.plan.expand.indexing import axis_back, axis_last
from npuforge.plan.expand.rules import refuse, rule
from npuforge.plan.values import Special, Value, results
from npuforge.spec.graph import Node
from npuforge.spec.size import Size, product


@rule("aten.topk.default")
def _topk(
    node: Node, x: Value, kept: Any, axis: int = -1, largest: bool = True, in_order: bool = True
) -> tuple[Value, ...]:
    return _ordered(node, x, axis, Size.of(kept), descending=largest)


@rule("aten.sort.default")
def _sort(node: Node, x: Value, axis: int = -1, descending: bool = False) -> tuple[Value, ...]:
    return _ordered(node, x, axis, None, descending=descending)


@rule("aten.sort.stable")
def _sort_stable(
    node: Node, x: Value, stable: bool = True, dim: int = -1, descending: bool = False
) -> tuple[Value, ...]:
    return _ordered(node, x, dim, None, descending=descending)


def _ordered(
    node: Node, x: Value, axis: int, kept: Size | None, *, descending: bool
) -> tuple[Value, ...]:
    """Sorting is of float32 rows, in which every smaller float type has its place."""
    if not is_float(x.dtype) or not x.shape:
        raise refuse(node, f"sorting of {x.dtype} is not planned")
    axis %= len(x.shape)
    source = axis_last(cast(x, "float32"), axis)
    extent = source.shape[-1]
    count = extent if kept is None else kept
    shape = (*source.shape[:-1], count)
    data = {
        "rows": product(source.shape[:-1]),
        "extent": extent,
        "kept": count,
        "descending": descending,
    }
    made = results(Special("sort_rows", (source,), (shape, shape), ("float32", "int64"), data))
    values, places = (axis_back(value, axis) for value in made)
    return cast(values, x.dtype), cast(places, "int64")
