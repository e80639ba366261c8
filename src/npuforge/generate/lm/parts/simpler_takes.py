# SPDX-License-Identifier: Apache-2.0
"""Elements that are taken by places as simpler moves: by a range a slice, by a range that is turned
the two parts of it, by rows and columns one after the other."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import cast

from npuforge.generate.lm.parts.simpler_moves import LAST, cut, place_of, with_axis
from npuforge.generate.lm.question.rewriting import Rewriting, lengths
from npuforge.spec.graph import Argument, Node, Ref, TensorType
from npuforge.spec.size import Size, product

_ONE = Size.of(1)


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
            cut(made, f"{node.name}_after", of, axis, by, LAST),
            cut(made, f"{node.name}_before", of, axis, 0, by),
        ]
        made.compute(node.name, "cat.default", [cast(Argument, parts), axis], node.type)
        return True
    places = made.range_of(index)
    if places is None:
        return False
    start, end, step = [*places.args, 1][:3]
    if not isinstance(step, int) or step < 1 or place_of(start) is None or place_of(end) is None:
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
    """By a range, along one axis: as by a list of places. By several axes of places: by a list of
    them, and so by rows and columns, first by rows."""
    of, places = node.args
    before, by = _split(cast(list[Argument], places))
    if not by:
        return False
    axis = len(before)
    if len(by) == 1 and made.range_of(by[0]) is not None:
        return index_select(made, replace(node, args=[of, axis, by[0]]))
    kinds = [made.kind(one) for one in by]
    if len(by) == 1 and len(kinds[0].shape) == 1:
        return False
    if any(kind.dtype == "bool" for kind in kinds) or not _follow(kinds):
        return False
    for step, (one, kind) in enumerate(zip(by, kinds, strict=True)):
        name, count, size = f"{node.name}_{step}", math.prod(kind.shape), product(kind.sizes)
        listed = TensorType((count,), kind.dtype, (str(size),))
        seen = made.looked_at(one)
        if made.kind(seen) != listed:
            seen = made.compute(f"{name}_places", "view.default", [seen, lengths(listed)], listed)
        whole = with_axis(made.kind(of), axis + step, count, str(size))
        given: list[Argument] = [None] * (axis + step)
        of = made.compute(name, "index.Tensor", [of, cast(Argument, [*given, seen])], whole)
    made.compute(node.name, "view.default", [of, lengths(node.type)], node.type)
    return True


def _split(places: list[Argument]) -> tuple[list[Argument], list[Argument]]:
    """The axes before those that elements are taken along, and the places on these; none where
    they do not lie side by side."""
    before = list(itertools.takewhile(lambda one: one is None, places))
    by = list(itertools.takewhile(lambda one: one is not None, places[len(before) :]))
    after = places[len(before) + len(by) :]
    return before, by if all(one is None for one in after) else []


def _follow(kinds: list[TensorType]) -> bool:
    """Whether axes of places lie after one another where they meet."""
    rank = max(len(kind.shape) for kind in kinds)
    last = -1
    for kind in kinds:
        missing = rank - len(kind.shape)
        own = [missing + axis for axis, size in enumerate(kind.sizes) if size != _ONE]
        if own and own[0] <= last:
            return False
        last = max([last, *own])
    return True


def gather(made: Rewriting, node: Node) -> bool:
    """Of a line: as by a list of places."""
    of, _, places = node.args[:3]
    if len(made.kind(of).shape) != 1 or len(made.kind(places).shape) != 1:
        return False
    made.compute(node.name, "index.Tensor", [of, cast(Argument, [places])], node.type)
    return True


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
