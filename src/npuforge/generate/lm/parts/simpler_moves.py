# SPDX-License-Identifier: Apache-2.0
"""Moves as simpler ones: a part that is written over is a join of what is left and what is new,
several tensors are joined two by two, what is turned in several ways is turned in one after the
other, and a median is the one in the middle of what is sorted."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from npuforge.generate.lm.question.rewriting import Rewriting, number
from npuforge.spec.graph import Argument, Extent, Node, Ref, TensorType
from npuforge.spec.size import Size

LAST = 2**63 - 1  # an end that is the extent, whatever it is
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
    where: list[Argument] = [*node.args[2:], *(0, 0, LAST, 1)[len(node.args) - 2 :]]
    axis, start, end, step = where[0], where[1], where[2], where[3]
    kind = made.kind(whole)
    if step != 1 or not isinstance(axis, int):
        return False
    low, high = place_of(start), place_of(end)
    if low is None or high is None:
        return False
    if low.known == 0 and high.known == LAST:
        if made.kind(new) != node.type:
            return False
        made.names[node.name] = cast(Ref, new).ref
        return True
    if kind.shape[axis] != node.type.shape[axis] or made.kind(new).dtype != kind.dtype:
        return False
    parts: list[Argument] = []
    if low.known != 0:
        parts.append(cut(made, f"{node.name}_before", whole, axis, 0, start))
    parts.append(new)
    if high.known != LAST:
        parts.append(cut(made, f"{node.name}_after", whole, axis, end, LAST))
    made.compute(node.name, "cat.default", [cast(Argument, parts), axis], node.type)
    return True


def place_of(argument: Argument) -> Size | None:
    """A place on an axis that is counted from its beginning."""
    if isinstance(argument, Extent):
        return argument.size
    return Size.of(argument) if isinstance(argument, int) and argument >= 0 else None


def cut(made: Rewriting, name: str, of: Argument, axis: int, start: Argument, end: Argument) -> Ref:
    """The part of a tensor between two places of an axis."""
    kind = made.kind(of)
    low = cast(Size, place_of(start))
    high = kind.sizes[axis] if end == LAST else cast(Size, place_of(end))
    first = start.example if isinstance(start, Extent) else cast(int, start)
    last = end.example if isinstance(end, Extent) else min(cast(int, end), kind.shape[axis])
    shape = (*kind.shape[:axis], last - first, *kind.shape[axis + 1 :])
    extents = (*kind.extents[:axis], str(high - low), *kind.extents[axis + 1 :])
    part = replace(kind, shape=shape, extents=extents)
    return made.compute(name, "slice.Tensor", [of, axis, start, end], part)


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
        joined = with_axis(of[0], axis, length, str(whole))
        smaller = Node(name, node.op, [cast(Argument, half), axis], {}, [joined])
        if not join(made, smaller):
            made.put(smaller)
        halves.append(Ref(name))
    made.compute(node.name, "cat.default", [cast(Argument, halves), axis], node.type)
    return True


def turned(made: Rewriting, node: Node) -> bool:
    """In several ways: each time a block of axes that follow one another changes places with what
    is before it."""
    of, order = node.args[0], [cast(int, axis) for axis in cast(list[Argument], node.args[1])]
    kind, rank = made.kind(of), len(node.type.shape)
    order = [axis % rank for axis in order]
    if "1" in kind.extents:
        return False
    steps: list[list[int]] = []
    now = list(range(rank))
    for place in range(rank):
        start = now.index(order[place])
        if start != place:
            end = start + 1
            while end < rank and now[end] == order[place + end - start]:
                end += 1
            now = [*now[:place], *now[start:end], *now[place:start], *now[end:]]
            steps.append(now)
    if len(steps) < 2:
        return False
    before = list(range(rank))
    for step, after in enumerate(steps):
        shape = tuple(kind.shape[axis] for axis in after)
        extents = tuple(kind.extents[axis] for axis in after)
        name = node.name if after is steps[-1] else f"{node.name}_{step}"
        by: list[Argument] = [before.index(axis) for axis in after]
        seen = replace(kind, shape=shape, extents=extents)
        of = made.compute(name, "permute.default", [of, cast(Argument, by)], seen)
        before = after
    return True


def with_axis(kind: TensorType, axis: int, length: int, extent: str) -> TensorType:
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
