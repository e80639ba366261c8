# SPDX-License-Identifier: Apache-2.0
"""Views of tensors."""

from __future__ import annotations

from typing import Any

from npuforge.plan.expand.rules import refuse, rule
from npuforge.plan.values import ONE, Value
from npuforge.plan.views import cut, permute, reshape, select, squeeze, unsqueeze
from npuforge.spec.graph import Node
from npuforge.spec.size import Size


@rule("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default")
def _view(node: Node, x: Value, shape: list[Any]) -> Value:
    return reshape(x, node.type.sizes)


@rule("aten.permute.default")
def _permute(node: Node, x: Value, order: list[int]) -> Value:
    return permute(x, order)


@rule("aten.transpose.int")
def _transpose(node: Node, x: Value, first: int, second: int) -> Value:
    order = list(range(len(x.shape)))
    order[first], order[second] = order[second], order[first]
    return permute(x, order)


@rule("aten.t.default")
def _t(node: Node, x: Value) -> Value:
    return permute(x, list(reversed(range(len(x.shape)))))


@rule("aten.unsqueeze.default")
def _unsqueeze(node: Node, x: Value, axis: int) -> Value:
    return unsqueeze(x, axis)


@rule("aten.squeeze.dims", "aten.squeeze.dim", "aten.squeeze.default")
def _squeeze(node: Node, x: Value, axes: list[int] | int | None = None) -> Value:
    if axes is None:
        axes = list(range(len(x.shape)))
    return squeeze(x, [axes] if isinstance(axes, int) else axes)


@rule("aten.select.int")
def _select(node: Node, x: Value, axis: int, index: int | Size) -> Value:
    place = Size.of(index)
    if place.known is not None and place.known < 0:
        place = place + x.shape[axis]
    return select(x, axis, place)


@rule("aten.slice.Tensor")
def _slice(
    node: Node, x: Value, axis: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Value:
    extent = x.shape[axis]
    first = Size.of(0 if start is None else start)
    if first.known is not None and first.known < 0:
        first = first + extent
    return cut(x, axis, first, node.type.sizes[axis], step)


@rule("aten.split_with_sizes.default")
def _split(node: Node, x: Value, sizes: list[Any], axis: int = 0) -> tuple[Value, ...]:
    parts: list[Value] = []
    start = Size.of(0)
    for size in sizes:
        extent = Size.of(size)
        parts.append(cut(x, axis, start, extent))
        start = start + extent
    if not parts:
        raise refuse(node, "nothing to split")
    return tuple(parts)


@rule("aten.unbind.int")
def _unbind(node: Node, x: Value, axis: int = 0) -> tuple[Value, ...]:
    extent = x.shape[axis].known
    if extent is None:
        raise refuse(node, "the extent of the axis is not known")
    return tuple(select(x, axis, Size.of(index)) for index in range(extent))


@rule("aten.diagonal.default")
def _diagonal(node: Node, x: Value, *_: Any) -> Value:
    if x.shape == (ONE, ONE):
        return reshape(x, node.type.sizes)
    raise refuse(node, "diagonals are not planned")
