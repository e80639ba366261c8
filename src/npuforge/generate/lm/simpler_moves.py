# SPDX-License-Identifier: Apache-2.0
"""Moves as simpler ones: a part that is written over is a join of what is left and what is new,
elements taken by a range are a slice, several tensors are joined two by two, and a median is the
one in the middle of what is sorted."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from npuforge.generate.lm.rewriting import Rewriting, number
from npuforge.spec.graph import Argument, Extent, Node, Ref, TensorType
from npuforge.spec.size import Size

_LAST = 2**63 - 1  # an end that is the extent, whatever it is
_JOINED = 2  # tensors that are joined at once


def copy(made: Rewriting, node: Node) -> bool:
    """Into a tensor of the same type and shape: the other one."""
    if made.kind(node.args[1]) != node.type:
        return False
    made.names[node.name] = cast(Ref, node.args[1]).ref
    return True


def slice_scatter(made: Rewriting, node: Node) -> bool:
    """What is before, what is new, what is after."""
    whole, new = node.args[:2]
    where: list[Argument] = [*node.args[2:], *(0, 0, _LAST, 1)[len(node.args) - 2 :]]
    axis, start, end, step = where[0], where[1], where[2], where[3]
    kind = made.kind(whole)
    if step != 1 or not isinstance(axis, int):
        return False
    low, high = _place(start), _place(end)
    if low is None or high is None:
        return False
    if low.known == 0 and high.known == _LAST:
        if made.kind(new) != node.type:
            return False
        made.names[node.name] = cast(Ref, new).ref
        return True
    if kind.shape[axis] != node.type.shape[axis] or made.kind(new).dtype != kind.dtype:
        return False
    parts: list[Argument] = []
    if low.known != 0:
        parts.append(_cut(made, f"{node.name}_before", whole, axis, 0, start))
    parts.append(new)
    if high.known != _LAST:
        parts.append(_cut(made, f"{node.name}_after", whole, axis, end, _LAST))
    made.compute(node.name, "cat.default", [cast(Argument, parts), axis], node.type)
    return True


def _place(argument: Argument) -> Size | None:
    """A place on an axis that is counted from its beginning."""
    if isinstance(argument, Extent):
        return argument.size
    return Size.of(argument) if isinstance(argument, int) and argument >= 0 else None


def _cut(
    made: Rewriting, name: str, of: Argument, axis: int, start: Argument, end: Argument
) -> Ref:
    """The part of a tensor between two places of an axis."""
    kind = made.kind(of)
    low = cast(Size, _place(start))
    high = kind.sizes[axis] if end == _LAST else cast(Size, _place(end))
    first = start.example if isinstance(start, Extent) else cast(int, start)
    last = end.example if isinstance(end, Extent) else min(cast(int, end), kind.shape[axis])
    shape = (*kind.shape[:axis], last - first, *kind.shape[axis + 1 :])
    extents = (*kind.extents[:axis], str(high - low), *kind.extents[axis + 1 :])
    part = replace(kind, shape=shape, extents=extents)
    return made.compute(name, "slice.Tensor", [of, axis, start, end], part)


def index_select(made: Rewriting, node: Node) -> bool:
    """By a range: a slice in steps. Of a range that begins at nothing: the places themselves."""
    of, axis, index = node.args
    counted = made.range_of(of)
    if counted is not None and counted.args[0] == 0 and [*counted.args, 1][2] == 1:
        if made.kind(index) != node.type:
            return False
        made.names[node.name] = cast(Ref, index).ref
        return True
    by = made.roll_of(index)
    if by is not None and isinstance(axis, int) and made.kind(of) == node.type:
        parts = [
            _cut(made, f"{node.name}_after", of, axis, by, _LAST),
            _cut(made, f"{node.name}_before", of, axis, 0, by),
        ]
        made.compute(node.name, "cat.default", [cast(Argument, parts), axis], node.type)
        return True
    places = made.range_of(index)
    if places is None:
        return False
    start, end, step = [*places.args, 1][:3]
    if not isinstance(step, int) or step < 1 or _place(start) is None or _place(end) is None:
        return False
    kind, count = made.kind(of), node.type.shape[0]
    if axis == 0 and len(kind.shape) == 1 and isinstance(start, int) and start < step > 1:
        # A column of what lies before the last, where rows are as long as a step.
        dtype, length = kind.dtype, count * step
        if isinstance(end, int) and length <= kind.shape[0]:
            begun = TensorType((length,), dtype, (str(length),))
            rows = TensorType((count, step), dtype, (str(count), str(step)))
            first = made.compute(f"{node.name}_first", "slice.Tensor", [of, 0, 0, length], begun)
            seen = made.compute(f"{node.name}_rows", "view.default", [first, [count, step]], rows)
            made.compute(node.name, "select.int", [seen, 1, start], node.type)
            return True
    made.compute(node.name, "slice.Tensor", [of, axis, start, end, step], node.type)
    return True


def index(made: Rewriting, node: Node) -> bool:
    """By a range, along one axis: as by a list of places."""
    of, places = node.args
    axis = len(cast(list[Argument], places)) - 1
    *before, by = cast(list[Argument], places)
    if any(one is not None for one in before) or made.range_of(by) is None:
        return False
    return index_select(made, replace(node, args=[of, axis, by]))


def index_put(made: Rewriting, node: Node) -> bool:
    """Along the first axis, wherever there is a place: what is put."""
    of, places, new = node.args[:3]
    by = cast(list[Argument], places)
    counted = made.range_of(by[0]) if len(by) == 1 else None
    if counted is None or node.args[3:4] == [True] or made.kind(new) != node.type:
        return False
    if counted.args[0] != 0 or [*counted.args, 1][2] != 1:
        return False
    if counted.type.extents != made.kind(of).extents[:1]:
        return False
    made.names[node.name] = cast(Ref, new).ref
    return True


def join(made: Rewriting, node: Node) -> bool:
    """Of several: two halves, joined each."""
    parts = cast(list[Argument], node.args[0])
    axis = node.args[1] if len(node.args) > 1 else 0
    if len(parts) <= _JOINED or not isinstance(axis, int):
        return False
    kinds = [made.kind(one) for one in parts]
    if len({len(kind.shape) for kind in kinds}) != 1:
        return False  # parts of no elements
    halves: list[Argument] = []
    middle = (len(parts) + 1) // 2
    for place, half in enumerate((parts[:middle], parts[middle:])):
        name = f"{node.name}_{place}"
        if len(half) == 1:
            halves += half
            continue
        of = [made.kind(one) for one in half]
        length = sum(kind.shape[axis] for kind in of)
        whole = Size.of(0)
        for kind in of:
            whole = whole + kind.sizes[axis]
        joined = _with_axis(of[0], axis, length, str(whole))
        smaller = Node(name, node.op, [cast(Argument, half), axis], {}, [joined])
        if not join(made, smaller):
            made.put(smaller)
        halves.append(Ref(name))
    made.compute(node.name, "cat.default", [cast(Argument, halves), axis], node.type)
    return True


def _with_axis(kind: TensorType, axis: int, length: int, extent: str) -> TensorType:
    axis %= len(kind.shape)
    return replace(
        kind,
        shape=(*kind.shape[:axis], length, *kind.shape[axis + 1 :]),
        extents=(*kind.extents[:axis], extent, *kind.extents[axis + 1 :]),
    )


def median(made: Rewriting, node: Node) -> bool:
    """Along the last axis: of what is sorted the one in the middle, unless something is no number,
    which is sorted to the end."""
    of, axis, *keep = node.args
    kind, value = made.kind(of), node.type
    last = len(kind.shape) - 1
    if not isinstance(axis, int) or axis % (last + 1) != last or keep[:1] == [True]:
        return False
    if kind.dtype not in ("float32", "float16", "bfloat16") or (node.name, 1) in made.items:
        return False
    name, extent, example = node.name, kind.sizes[-1], kind.shape[-1]
    places = replace(kind, dtype="int64")
    both = Ref(made.put(Node(f"{name}_both", "aten.sort.default", [of], {}, [kind, places])))
    ordered = Ref(made.put(Node(f"{name}_ordered", "getitem", [both, 0], {}, [kind])))

    def at(what: str, place: Argument) -> Ref:
        return made.compute(f"{name}_{what}", "select.int", [ordered, last, place], value)

    found = at("middle", number(str((extent - 1) // 2), (example - 1) // 2))
    highest = at("highest", number(str(extent - 1), example - 1))
    missing = made.compute(
        f"{name}_missing", "isnan.default", [highest], replace(value, dtype="bool")
    )
    made.compute(f"{name}_value", "where.self", [missing, highest, found], value)
    made.several[name] = [f"{name}_value"]
    return True
