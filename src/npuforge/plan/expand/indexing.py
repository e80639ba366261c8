# SPDX-License-Identifier: Apache-2.0
"""Operations that read at computed places: gather, index_select, embedding, indexing by tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from npuforge.plan.arith import apply, cast, is_float, reduce
from npuforge.plan.expand.rules import refuse, rule
from npuforge.plan.special.indices import INDEX_TYPES, merged
from npuforge.plan.values import ONE, Constant, Iota, Map, Shape, Special, Value, results
from npuforge.plan.views import broadcast_shape, cut, expand, reshape
from npuforge.spec.graph import Node
from npuforge.spec.size import Size, product


def checked(node: Node, index: Value) -> Value:
    """An index tensor of a type that is planned."""
    if index.dtype not in INDEX_TYPES:
        raise refuse(node, f"indices of type {index.dtype} are not planned")
    return index


def axis_last(value: Value, axis: int) -> Value:
    """An axis moved to the end, in memory."""
    shape = value.shape
    order = (*shape[:axis], *shape[axis + 1 :], shape[axis])
    return _turned(value, shape[:axis], shape[axis : axis + 1], shape[axis + 1 :], order)


def axis_back(value: Value, axis: int) -> Value:
    """The last axis moved to a place further out, in memory."""
    shape = value.shape
    order = (*shape[:axis], shape[-1], *shape[axis:-1])
    return _turned(value, shape[:axis], shape[axis:-1], shape[-1:], order)


def _turned(value: Value, outer: Shape, rows: Shape, cols: Shape, shape: Shape) -> Value:
    if product(rows) == ONE or product(cols) == ONE:
        return reshape(value, shape)
    if value.dtype == "int64":  # indices: no axis has more places than 32 bits tell apart
        value = cast(value, "int32")
    data = {"outer": product(outer), "rows": product(rows), "cols": product(cols)}
    return results(Special("turn", (value,), (shape,), (value.dtype,), data))[0]


@rule("aten.embedding.default")
def _embedding(node: Node, table: Value, index: Value, *_: Any) -> Value:
    return take_rows(node, table, 0, index, wraps=False)


@rule("aten.index_select.default")
def _index_select(node: Node, x: Value, axis: int, index: Value) -> Value:
    if not x.shape:
        return x
    return take_rows(node, x, axis % len(x.shape), index, wraps=False)


def take_rows(node: Node, x: Value, axis: int, index: Value, *, wraps: bool) -> Value:
    """The places of one axis that an index names; the index's axes stand for it."""
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    return taken(checked(node, index), x, axis, 1, shape, wraps=wraps)


def taken(index: Value, x: Value, axis: int, axes: int, shape: Shape, *, wraps: bool) -> Value:
    """Rows of x, whose `axes` axes from `axis` on are numbered together by `index`."""
    outer = product(x.shape[:axis])
    extent = product(x.shape[axis : axis + axes])
    inner = product(x.shape[axis + axes :])
    data = {
        "outer": outer,
        "rows": outer,
        "extent": extent,
        "inner": inner,
        "count": product(index.shape),
        "wraps": wraps,
        "shared": True,
        "axes": [(outer, outer)],
    }
    op = "take_columns" if inner == ONE else "take_rows"
    return results(Special(op, (x, index), (shape,), (x.dtype,), data))[0]


@rule("aten.gather.default")
def _gather(node: Node, x: Value, axis: int, index: Value, sparse_grad: bool = False) -> Value:
    rank = len(x.shape)
    if not rank:
        return x
    axis %= rank
    index, wraps = _unwrapped(checked(node, index), x.shape[axis])
    if index.shape[axis] == ONE and is_float(x.dtype) and not wraps:
        return _one_of(x, axis, index)
    if x.dtype == "int64":  # turned, it would be cut to 32 bits, as indices are
        raise refuse(node, "elements of type int64 are not picked one by one")
    source, places = axis_last(x, axis), axis_last(index, axis)
    pairs = list(zip(places.shape[:-1], source.shape[:-1], strict=True))
    data = {
        "rows": product(places.shape[:-1]),
        "extent": source.shape[-1],
        "count": places.shape[-1],
        "wraps": wraps,
        "shared": False,
        "axes": merged(pairs),
    }
    special = Special("take_along", (source, places), (places.shape,), (x.dtype,), data)
    return axis_back(results(special)[0], axis)


def _unwrapped(index: Value, extent: Size) -> tuple[Value, bool]:
    """An index taken modulo the extent is the index itself, counted from the end if negative."""
    if isinstance(index, Map) and index.op == "floor_mod":
        inner, by = index.args
        if isinstance(by, Constant) and by.number in (extent, extent.known):
            return expand(inner, index.shape), True
    return index, False


def _one_of(x: Value, axis: int, index: Value) -> Value:
    """One element of every row: the sum of the row with all others set to zero.

    It joins the computation of the row, which so need not be stored.
    """
    for other, extent in enumerate(index.shape):
        if other != axis and x.shape[other] != extent:
            x = cut(x, other, Size.of(0), extent)
    here = apply("eq", "bool", Iota(x.shape, index.dtype, axis), index)
    chosen = apply("where", x.dtype, here, x, 0.0)
    return reduce("sum", chosen, [axis], x.dtype, keep=True)


@rule("aten.index.Tensor", "aten._unsafe_index.Tensor")
def _index(node: Node, x: Value, indices: list[Value | None]) -> Value:
    axis, given = numbered_axes(node, indices)
    shape = (
        *x.shape[:axis],
        *broadcast_shape([index.shape for index in given]),
        *x.shape[axis + len(given) :],
    )
    index = one_index(node, x.shape[axis : axis + len(given)], given)
    return taken(index, x, axis, len(given), shape, wraps=len(given) == 1)


def numbered_axes(node: Node, indices: Sequence[Value | None]) -> tuple[int, list[Value]]:
    """The first axis that has an index, and the indices, which must follow one another."""
    places = [place for place, index in enumerate(indices) if index is not None]
    given = [checked(node, index) for index in indices if index is not None]
    if not places:
        raise refuse(node, "no index is a tensor")
    if places != list(range(places[0], places[0] + len(places))):
        raise refuse(node, "indices with whole axes between them are not planned")
    return places[0], given


def one_index(node: Node, extents: Shape, indices: list[Value]) -> Value:
    """Several indices as one into the axes taken together, none of them negative."""
    if len(indices) == 1:
        return indices[0]
    total: Value | None = None
    for index, extent in zip(indices, extents, strict=True):
        behind = apply("add", "int32", index, extent)
        place = apply("where", "int32", apply("lt", "bool", index, 0), behind, index)
        if total is not None:
            total = apply("add", "int32", apply("mul", "int32", total, extent), place)
        else:
            total = place
    assert total is not None, node
    return total
