# SPDX-License-Identifier: Apache-2.0
"""Views pushed down to the loads: what remains is arithmetic over strided reads.

A view of a map is the map of views of its arguments; a view of a reduction is the reduction of a
view of its argument's leading axes. Where no strides express a view, the value is stored first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from itertools import pairwise
from typing import Concatenate, ParamSpec, TypeVar, cast

from npuforge.plan.values import (
    ONE,
    Constant,
    Iota,
    Load,
    Map,
    Reduce,
    Shape,
    Value,
    contiguous,
    load,
    stored,
)
from npuforge.spec.size import Size, product

ZERO = Size.of(0)


_How = ParamSpec("_How")
_Found = TypeVar("_Found", bound=Value | None)


def _once(
    view: Callable[Concatenate[Value, _How], _Found],
) -> Callable[Concatenate[Value, _How], _Found]:
    """A view that is the same value whenever it is taken: values that share others do so in all
    views of them, where copies would grow with the number of ways to what is shared."""

    @wraps(view)
    def taken(value: Value, /, *args: _How.args, **named: _How.kwargs) -> _Found:
        how = (*args, *named.items())
        key = view.__name__, *(tuple(one) if isinstance(one, list) else one for one in how)
        if key not in value.views:
            value.views[key] = view(value, *args, **named)
        return cast(_Found, value.views[key])

    return taken


def broadcast_shape(shapes: Sequence[Shape]) -> Shape:
    """The shape that values are repeated to; extents are equal or one."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Size] = []
    for axis in range(-rank, 0):
        extents = [shape[axis] for shape in shapes if len(shape) >= -axis]
        result.append(next((extent for extent in extents if extent != ONE), ONE))
    return tuple(result)


def lift(value: Value, rank: int) -> Value:
    """Axes of extent one put in front."""
    missing = rank - len(value.shape)
    return value if missing <= 0 else _insert(value, tuple(range(missing)))


@_once
def permute(value: Value, order: Sequence[int]) -> Value:
    order = [axis % len(value.shape) for axis in order]
    if list(order) == list(range(len(order))):
        return value
    shape = tuple(value.shape[axis] for axis in order)
    match value:
        case Load():
            strides = tuple(value.strides[axis] for axis in order)
            return replace(value, shape=shape, strides=strides)
        case Constant():
            return replace(value, shape=shape)
        case Iota():
            return replace(value, shape=shape, axis=order.index(value.axis))
        case Map():
            return _mapped(value, shape, lambda arg: permute(arg, order))
        case Reduce():
            rest = range(len(order), len(value.arg.shape))
            return replace(value, shape=shape, arg=permute(value.arg, [*order, *rest]))
        case _:
            return permute(load(stored(value)), order)


def unsqueeze(value: Value, axis: int) -> Value:
    return _insert(value, (axis % (len(value.shape) + 1),))


@_once
def _insert(value: Value, axes: tuple[int, ...]) -> Value:
    """New axes of extent one at these places of the result, in rising order."""
    shape = list(value.shape)
    for axis in axes:
        shape.insert(axis, ONE)
    match value:
        case Load():
            strides = list(value.strides)
            for axis in axes:
                strides.insert(axis, ZERO)
            return replace(value, shape=tuple(shape), strides=tuple(strides))
        case Constant():
            return replace(value, shape=tuple(shape))
        case Iota():
            at = value.axis
            for axis in axes:
                at += at >= axis
            return replace(value, shape=tuple(shape), axis=at)
        case Map():
            return _mapped(value, tuple(shape), lambda arg: _insert(arg, axes))
        case Reduce():
            return replace(value, shape=tuple(shape), arg=_insert(value.arg, axes))
        case _:
            return _insert(load(stored(value)), axes)


def squeeze(value: Value, axes: Sequence[int]) -> Value:
    """Drop these axes where their extent is one."""
    rank = len(value.shape)
    drop = {axis % rank for axis in axes if value.shape[axis % rank] == ONE} if rank else set()
    for axis in sorted(drop, reverse=True):
        value = select(value, axis, Size.of(0))
    return value


@_once
def select(value: Value, axis: int, index: Size) -> Value:
    """The values at one place of an axis, which goes away."""
    axis %= len(value.shape)
    shape = value.shape[:axis] + value.shape[axis + 1 :]
    match value:
        case Load():
            strides = value.strides[:axis] + value.strides[axis + 1 :]
            offset = value.offset + value.strides[axis] * index
            return replace(value, shape=shape, strides=strides, offset=offset)
        case Constant():
            return replace(value, shape=shape)
        case Iota():
            if value.axis == axis:
                return Constant(shape, value.dtype, index)
            return replace(value, shape=shape, axis=value.axis - (value.axis > axis))
        case Map():
            return _mapped(
                value,
                shape,
                lambda arg: select(arg, axis, ZERO if arg.shape[axis] == ONE else index),
            )
        case Reduce():
            return replace(value, shape=shape, arg=select(value.arg, axis, index))
        case _:
            return select(load(stored(value)), axis, index)


@_once
def cut(value: Value, axis: int, start: Size, extent: Size, step: int = 1) -> Value:
    """`extent` places of an axis from `start` on, `step` apart (negative: backwards)."""
    axis %= len(value.shape)
    if start == ZERO and step == 1 and extent == value.shape[axis]:
        return value
    shape = (*value.shape[:axis], extent, *value.shape[axis + 1 :])
    match value:
        case Load():
            stride = value.strides[axis]
            strides = (*value.strides[:axis], stride * step, *value.strides[axis + 1 :])
            return replace(
                value, shape=shape, strides=strides, offset=value.offset + stride * start
            )
        case Constant():
            return replace(value, shape=shape)
        case Iota() if value.axis == axis:
            index = Iota(shape, value.dtype, axis)
            ones = (ONE,) * len(shape)
            stepped = Map(shape, value.dtype, "mul", (index, Constant(ones, value.dtype, step)))
            return Map(shape, value.dtype, "add", (stepped, Constant(ones, value.dtype, start)))
        case Iota():
            return replace(value, shape=shape)
        case Map():
            return _mapped(
                value,
                shape,
                lambda arg: arg if arg.shape[axis] == ONE else cut(arg, axis, start, extent, step),
            )
        case Reduce():
            return replace(value, shape=shape, arg=cut(value.arg, axis, start, extent, step))
        case _:
            return cut(load(stored(value)), axis, start, extent, step)


@_once
def expand(value: Value, shape: Shape) -> Value:
    """Axes of extent one repeated to `shape`."""
    value = lift(value, len(shape))
    if value.shape == shape:
        return value
    match value:
        case Load():
            # An axis of extent one may carry a stride from a slice: repeating it must not step.
            strides = tuple(
                ZERO if own == ONE else stride
                for own, stride in zip(value.shape, value.strides, strict=True)
            )
            return replace(value, shape=shape, strides=strides)
        case Constant():
            return replace(value, shape=shape)
        case Map():
            return replace(value, shape=shape)
        case _:
            return Map(shape, value.dtype, "copy", (value,))


@_once
def reshape(value: Value, shape: Shape) -> Value:
    """The same elements in order, under another shape."""
    if value.shape == shape:
        return value
    groups = _groups(value.shape, shape)
    if groups is None:
        return _flat(value, shape)
    return _reshape_groups(value, shape, groups) or _flat(value, shape)


# Runs of axes that correspond: (axes of the old shape, axes of the new).
_Groups = list[tuple[range, range]]


def _groups(old: Shape, new: Shape) -> _Groups | None:
    """Shortest runs of axes with equal products; None where symbols do not tell."""
    found: _Groups = []
    i = j = 0
    while i < len(old) or j < len(new):
        first_i, first_j = i, j
        a = b = ONE
        if i < len(old):
            a, i = old[i], i + 1
        if j < len(new):
            b, j = new[j], j + 1
        while a != b:
            grow_old = i < len(old) and (b.exactly(a) is not None or j >= len(new))
            if grow_old:
                a, i = a * old[i], i + 1
            elif j < len(new):
                b, j = b * new[j], j + 1
            elif i < len(old):
                a, i = a * old[i], i + 1
            else:
                return None
        found.append((range(first_i, i), range(first_j, j)))
    return found


@_once
def _reshape_groups(value: Value, shape: Shape, groups: _Groups) -> Value | None:
    match value:
        case Load():
            strides: list[Size] = []
            for olds, news in groups:
                part = _reshaped_strides(value, olds, [shape[axis] for axis in news])
                if part is None:
                    return None
                strides += part
            return replace(value, shape=shape, strides=tuple(strides))
        case Constant():
            return replace(value, shape=shape)
        case Map():
            return _reshape_map(value, shape, groups)
        case Reduce():
            rank, folded = len(value.shape), len(value.folded)
            tail = [
                (range(rank + i, rank + i + 1), range(len(shape) + i, len(shape) + i + 1))
                for i in range(folded)
            ]
            arg = _reshape_groups(value.arg, shape + value.folded, [*groups, *tail])
            return None if arg is None else replace(value, shape=shape, arg=arg)
        case _:
            return None


def _reshape_map(value: Map, shape: Shape, groups: _Groups) -> Value | None:
    args: list[Value] = []
    for arg in value.args:
        own: list[Size] = []
        for olds, news in groups:
            extents = [arg.shape[axis] for axis in olds]
            if extents == [value.shape[axis] for axis in olds]:
                own += [shape[axis] for axis in news]
            elif product(extents) == ONE:
                own += [ONE] * len(news)
            else:
                return None
        found = _reshape_groups(arg, tuple(own), groups)
        if found is None:
            return None
        args.append(found)
    return replace(value, shape=shape, args=tuple(args))


def _reshaped_strides(value: Load, olds: range, new: list[Size]) -> list[Size] | None:
    """Strides of one run of axes, where the old axes follow one another without gaps."""
    axes = [axis for axis in olds if value.shape[axis] != ONE]
    if not axes:
        return [ZERO] * len(new)
    for outer, inner in pairwise(axes):
        if value.strides[outer] != value.strides[inner] * value.shape[inner]:
            return None
    step = value.strides[axes[-1]]
    return [stride * step for stride in contiguous(tuple(new))]


def _mapped(value: Map, shape: Shape, view: Callable[[Value], Value]) -> Value:
    args = tuple(view(arg) for arg in value.args)
    return replace(value, shape=shape, args=args)


def _flat(value: Value, shape: Shape) -> Load:
    """The value stored, and read under another shape."""
    return Load(shape, value.dtype, stored(value), ZERO, contiguous(shape))
