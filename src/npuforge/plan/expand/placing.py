# SPDX-License-Identifier: Apache-2.0
"""Operations that write at computed places: index_put, index_add, index_copy, scatter."""

from __future__ import annotations

from typing import Any

from npuforge.plan.arith import Number, apply, as_value, cast, mul
from npuforge.plan.expand.indexing import (
    axis_back,
    axis_last,
    checked,
    numbered_axes,
    one_index,
)
from npuforge.plan.expand.rules import refuse, rule
from npuforge.plan.special.indices import merged
from npuforge.plan.values import ONE, Shape, Special, Value, results
from npuforge.plan.views import broadcast_shape, expand, lift, unsqueeze
from npuforge.spec.graph import Node
from npuforge.spec.size import Size, product


@rule("aten.index_put.default", "aten._unsafe_index_put.default")
def _index_put(
    node: Node, x: Value, indices: list[Value | None], values: Value, accumulate: bool = False
) -> Value:
    mask = _only_mask(indices)
    if mask is not None:
        if product(values.shape) != ONE or accumulate:
            raise refuse(node, "only one number can be put where a mask is true")
        for _ in range(len(x.shape) - len(mask.shape)):
            mask = unsqueeze(mask, len(mask.shape))
        return apply("where", x.dtype, mask, expand(values, x.shape), x)
    axis, given = numbered_axes(node, indices)
    index = one_index(node, x.shape[axis : axis + len(given)], given)
    shape = broadcast_shape([item.shape for item in given])
    wraps = len(given) == 1
    return _put_rows(x, axis, len(given), index, shape, values, sums=accumulate, wraps=wraps)


def _only_mask(indices: list[Value | None]) -> Value | None:
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype == "bool":
        return indices[0]
    return None


@rule("aten.index_add.default")
def _index_add(
    node: Node, x: Value, axis: int, index: Value, values: Value, alpha: Number = 1
) -> Value:
    scaled = mul(values, alpha, x.dtype)
    return _one_axis(node, x, axis, index, scaled, sums=True)


@rule("aten.index_copy.default")
def _index_copy(node: Node, x: Value, axis: int, index: Value, values: Value) -> Value:
    return _one_axis(node, x, axis, index, values, sums=False)


def _one_axis(node: Node, x: Value, axis: int, index: Value, values: Value, *, sums: bool) -> Value:
    if not x.shape:
        return cast(add_or_take(x, values, sums), x.dtype)
    axis %= len(x.shape)
    flat = (product(index.shape),)
    return _put_rows(x, axis, 1, checked(node, index), flat, values, sums=sums, wraps=False)


def add_or_take(x: Value, values: Value, sums: bool) -> Value:
    """A tensor without dimensions has one place."""
    return apply("add", x.dtype, x, values) if sums else values


def _put_rows(
    x: Value,
    axis: int,
    axes: int,
    index: Value,
    index_shape: Shape,
    values: Value,
    *,
    sums: bool,
    wraps: bool,
) -> Value:
    shape = (*x.shape[:axis], *index_shape, *x.shape[axis + axes :])
    values, alike = _spread(cast(values, x.dtype), shape)
    data = {
        "outer": product(x.shape[:axis]),
        "extent": product(x.shape[axis : axis + axes]),
        "inner": product(x.shape[axis + axes :]),
        "count": product(index_shape),
        "sums": sums,
        "wraps": wraps,
        "alike": alike,
    }
    special = Special("put_rows", (x, index, values), (x.shape,), (x.dtype,), data)
    return results(special)[0]


def _spread(values: Value, shape: Shape) -> tuple[Value, list[tuple[Size, Size]]]:
    """Values repeated to a shape. Extents that are not known to be equal must be when it runs."""
    own = lift(values, len(shape)).shape
    pairs = [(mine, other) for mine, other in zip(own, shape, strict=True) if mine != other]
    if any(mine == ONE for mine, _ in pairs):
        return expand(values, shape), [pair for pair in pairs if pair[0] != ONE]
    return values, pairs


@rule("aten.scatter.src")
def _scatter(node: Node, x: Value, axis: int, index: Value, values: Value) -> Value:
    return _put_along(node, x, axis, index, values, "set")


@rule("aten.scatter.value")
def _scatter_value(node: Node, x: Value, axis: int, index: Value, value: Number) -> Value:
    values = expand(as_value(value, x.dtype), index.shape)
    return _put_along(node, x, axis, index, values, "set")


@rule("aten.scatter_add.default")
def _scatter_add(node: Node, x: Value, axis: int, index: Value, values: Value) -> Value:
    return _put_along(node, x, axis, index, values, "add")


_REDUCTIONS = {
    "add": "add",
    "sum": "add",
    "multiply": "mul",
    "prod": "mul",
    "amax": "max",
    "amin": "min",
}


@rule("aten.scatter_reduce.two", "aten.scatter.reduce", "aten.scatter.value_reduce")
def _scatter_reduce(
    node: Node,
    x: Value,
    axis: int,
    index: Value,
    values: Any,
    reduce: str,
    include_self: bool = True,
) -> Value:
    if reduce not in _REDUCTIONS:
        raise refuse(node, f"reduction {reduce!r} is not planned")
    if not include_self:
        raise refuse(node, "reductions without the input's own values are not planned")
    if not isinstance(values, Value):
        values = expand(as_value(values, x.dtype), index.shape)
    return _put_along(node, x, axis, index, values, _REDUCTIONS[reduce])


def _put_along(node: Node, x: Value, axis: int, index: Value, values: Value, combine: str) -> Value:
    rank = len(x.shape)
    if not rank:
        raise refuse(node, "a tensor without dimensions is not scattered to")
    axis %= rank
    target, places = axis_last(x, axis), axis_last(checked(node, index), axis)
    given = axis_last(cast(values, x.dtype), axis)
    data = {
        "rows": product(target.shape[:-1]),
        "axes": merged(list(zip(target.shape[:-1], places.shape[:-1], strict=True))),
        "v_axes": merged(list(zip(target.shape[:-1], given.shape[:-1], strict=True))),
        "combine": combine,
    }
    special = Special("put_along", (target, places, given), (target.shape,), (x.dtype,), data)
    return axis_back(results(special)[0], axis)
