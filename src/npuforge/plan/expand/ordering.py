# SPDX-License-Identifier: Apache-2.0
"""Sorting, the largest elements of rows, and those in the middle."""

from __future__ import annotations

import math
from typing import Any

from npuforge.plan.arith import apply, cast, is_float, reduce
from npuforge.plan.expand.indexing import axis_back, axis_last
from npuforge.plan.expand.rules import refuse, rule
from npuforge.plan.values import ONE, Iota, Special, Value, results
from npuforge.plan.views import cut, reshape
from npuforge.spec.graph import Node
from npuforge.spec.size import Size, product

_SMALL = ("int8", "uint8", "int16", "bool")
_WHOLE = {"int32": "int32", "int64": "int32"}  # as all numbers of 64 bits are computed with


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


@rule("aten.median.dim")
def _median(node: Node, x: Value, axis: int, keep: bool = False) -> tuple[Value, Value]:
    """The lower one of two in the middle; where some element is no number, the first of these."""
    if not x.shape:
        raise refuse(node, "the median of a number is not planned")
    axis %= len(x.shape)
    values, places = _ordered(node, x, axis, None, descending=False)
    extent = x.shape[axis]
    middle = (extent - 1) // 2
    value, place = (cut(one, axis, middle, ONE) for one in (values, places))
    if is_float(x.dtype):
        missing = apply("isnan", "bool", cut(values, axis, extent - 1, ONE))
        value = apply("where", x.dtype, missing, math.nan, value)
        numbers = cast(Iota(x.shape, "int64", axis), "float32")
        where = apply("where", "float32", apply("isnan", "bool", x), numbers, extent)
        first = reduce("min", where, [axis], "float32", keep=True)
        place = apply("where", "int64", missing, cast(first, "int64"), place)
    if keep:
        return value, place
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    return reshape(value, shape), reshape(place, shape)


def _ordered(
    node: Node, x: Value, axis: int, kept: Size | None, *, descending: bool
) -> tuple[Value, ...]:
    """Sorting is of rows of float32, in which every smaller type has its place, or of int32."""
    held = "float32" if is_float(x.dtype) or x.dtype in _SMALL else _WHOLE.get(x.dtype)
    if held is None or not x.shape:
        raise refuse(node, f"sorting of {x.dtype} is not planned")
    axis %= len(x.shape)
    source = axis_last(cast(x, held), axis)
    extent = source.shape[-1]
    count = extent if kept is None else kept
    shape = (*source.shape[:-1], count)
    data = {
        "rows": product(source.shape[:-1]),
        "extent": extent,
        "kept": count,
        "descending": descending,
    }
    made = results(Special("sort_rows", (source,), (shape, shape), (held, "int64"), data))
    values, places = (axis_back(value, axis) for value in made)
    return cast(values, x.dtype), cast(places, "int64")
