# SPDX-License-Identifier: Apache-2.0
"""Operations that put tensors side by side: cat, padding, roll, slices overwritten, repeat."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from npuforge.plan.arith import Number, apply, cast
from npuforge.plan.expand.rules import plain, refuse, rule
from npuforge.plan.special.part import Part
from npuforge.plan.values import (
    ONE,
    Iota,
    Load,
    Special,
    Tensor,
    Value,
    contiguous,
    load,
    results,
    stored,
)
from npuforge.plan.views import cut, expand, reshape, unsqueeze
from npuforge.spec.graph import Node
from npuforge.spec.size import Size, product

ZERO = Size.of(0)


@rule("aten.cat.default")
def _cat(node: Node, parts: list[Value], axis: int = 0) -> Value:
    kept = [cast(part, node.type.dtype) for part in parts if part.shape != (ZERO,)]
    if not kept:
        raise refuse(node, "nothing to put together")
    return _joined(list(kept), axis % len(kept[0].shape))


def _joined(parts: list[Value | tuple[Number, Size]], axis: int) -> Value:
    """Values, or numbers with extents, one after another along an axis."""
    like = next(part for part in parts if isinstance(part, Value))
    inner = product(like.shape[axis + 1 :])
    tensors: list[Value] = []
    listed: list[Part] = []
    length = ZERO
    for part in parts:
        if isinstance(part, Value):
            tensor, offset, pitch = _rows(part, axis)
            run = part.shape[axis] * inner
            listed.append(Part(run, len(tensors), offset, pitch))
            tensors.append(load(tensor))
            length = length + part.shape[axis]
        else:
            number, extent = part
            listed.append(Part(extent * inner, fill=number))
            length = length + extent
    listed = [part for part in listed if part.run != ZERO]
    shape = (*like.shape[:axis], length, *like.shape[axis + 1 :])
    data = {"outer": product(like.shape[:axis]), "total": length * inner, "parts": listed}
    return results(Special("join", tuple(tensors), (shape,), (like.dtype,), data))[0]


def _rows(value: Value, axis: int) -> tuple[Tensor, Size, Size]:
    """A tensor in which the value's rows from `axis` on lie without gaps, their start and pitch."""
    run = product(value.shape[axis:])
    if isinstance(value, Load):
        leading = [place for place in range(axis) if value.shape[place] != ONE]
        inside = value.strides[axis:] == contiguous(value.shape[axis:])
        even = all(
            value.strides[outer] == value.strides[inner] * value.shape[inner]
            for outer, inner in pairwise(leading)
        )
        if inside and even:
            pitch = value.strides[leading[-1]] if leading else run
            if pitch != ZERO:
                return value.tensor, value.offset, pitch
    return stored(value), ZERO, run


@rule("aten.constant_pad_nd.default")
def _pad(node: Node, x: Value, pads: list[Any], value: Number = 0) -> Value:
    number = plain(node, value, "the filling")
    for place in range(len(pads) // 2):
        axis = len(x.shape) - 1 - place
        before, after = Size.of(pads[2 * place]), Size.of(pads[2 * place + 1])
        first, last = _negative(before), _negative(after)
        x = cut(x, axis, first, x.shape[axis] - first - last)
        parts: list[Value | tuple[Number, Size]] = [x]
        if first == ZERO and before != ZERO:
            parts.insert(0, (number, before))
        if last == ZERO and after != ZERO:
            parts.append((number, after))
        if len(parts) > 1:
            x = _joined(parts, axis)
    return x


def _negative(pad: Size) -> Size:
    """How much a negative padding cuts off."""
    return -pad if pad.known is not None and pad.known < 0 else ZERO


@rule("aten.roll.default")
def _roll(node: Node, x: Value, shifts: Any, axes: Any = None) -> Value:
    moves = shifts if isinstance(shifts, list) else [shifts]
    if not axes:
        flat = reshape(x, (product(x.shape),))
        return reshape(_rolled(flat, 0, Size.of(moves[0])), x.shape)
    for axis, shift in zip(axes if isinstance(axes, list) else [axes], moves, strict=True):
        x = _rolled(x, axis % len(x.shape), Size.of(shift))
    return x


def _rolled(x: Value, axis: int, shift: Size) -> Value:
    extent = x.shape[axis]
    moved = Size.parse(f"({shift}) % ({extent})")
    if moved == ZERO:
        return x
    stay = extent - moved
    return _joined([cut(x, axis, stay, moved), cut(x, axis, ZERO, stay)], axis)


@rule("aten.slice_scatter.default")
def _slice_scatter(
    node: Node,
    x: Value,
    values: Value,
    axis: int = 0,
    start: Any = None,
    end: Any = None,
    step: int = 1,
) -> Value:
    if step != 1:
        raise refuse(node, "slices with a step are not overwritten")
    axis %= len(x.shape)
    extent = x.shape[axis]
    first = Size.of(0 if start is None else start)
    if first.known is not None and first.known < 0:
        first = first + extent
    behind = first + values.shape[axis]
    parts = [
        cut(x, axis, ZERO, first),
        cast(values, x.dtype),
        cut(x, axis, behind, extent - behind),
    ]
    kept = [part for part in parts if part.shape[axis] != ZERO]
    return _joined(list(kept), axis) if len(kept) > 1 else kept[0]


@rule("aten.select_scatter.default")
def _select_scatter(node: Node, x: Value, values: Value, axis: int, index: Any) -> Value:
    axis %= len(x.shape)
    place = Size.of(index)
    if place.known is not None and place.known < 0:
        place = place + x.shape[axis]
    here = apply("eq", "bool", Iota(x.shape, "int64", axis), place)
    return apply("where", x.dtype, here, unsqueeze(cast(values, x.dtype), axis), x)


@rule("aten.repeat.default")
def _repeat(node: Node, x: Value, times: list[Any]) -> Value:
    for _ in range(len(times) - len(x.shape)):
        x = unsqueeze(x, 0)
    wide: list[Size] = []
    for axis, (extent, count) in enumerate(zip(x.shape, map(Size.of, times), strict=True)):
        x = unsqueeze(x, 2 * axis)
        wide += [count, extent]
    return reshape(expand(x, tuple(wide)), node.type.sizes)
