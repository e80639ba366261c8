# SPDX-License-Identifier: Apache-2.0
"""The arguments of operations in fewer axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from npuforge.generate.lm.parts.axes import Rewriting, UnfitError
from npuforge.generate.lm.parts.axis_operations import (
    FOLDED_AT,
    FROM_FIRST,
    SCANS,
    SLICE,
    axis_of,
    folded,
    taken_by,
)
from npuforge.generate.lm.question.rewriting import lengths
from npuforge.spec.graph import Argument, Node

_Written = Callable[[Rewriting, Node], list[Argument]]


def as_they_are(_: Rewriting, node: Node) -> list[Argument]:
    return node.args


def _new_axis(how: Rewriting, node: Node) -> list[Argument]:
    """The axis that an operation is along."""
    read = next(node.reads())
    usual = 0 if node.op.removeprefix("aten.") in FROM_FIRST else -1
    axis = how.axis(read, cast(int, axis_of(node, 1, usual)))
    if axis is None:
        raise UnfitError
    return [node.args[0], axis, *node.args[2:]] if len(node.args) > 1 else node.args


def _new_folded(how: Rewriting, node: Node) -> list[Argument]:
    axes = folded(node)
    if not axes:
        return node.args
    read = next(node.reads())
    found = {axis for one in axes if (axis := how.axis(read, one)) is not None}
    if not found:
        raise UnfitError
    place = FOLDED_AT[node.op.removeprefix("aten.")]
    several = isinstance(node.args[place], list)
    new = cast(Argument, sorted(found)) if several else min(found)
    return [*node.args[:place], new, *node.args[place + 1 :]]


def _new_order(how: Rewriting, node: Node) -> list[Argument]:
    before, after = how.order(next(node.reads())), how.order(node.name)
    if before == after:
        raise UnfitError
    return [node.args[0], [before.index(place) for place in after]]


def _new_look(how: Rewriting, node: Node) -> list[Argument]:
    """An axis more or less."""
    read = next(node.reads())
    before, after = how.order(read), how.order(node.name)
    longer, shorter = sorted((before, after), key=len, reverse=True)
    found = [number for number, place in enumerate(longer) if place not in shorter]
    if len(found) > 1 or (not found and before != after):
        raise UnfitError
    if not found:
        return node.args
    axis: Argument = found[0]
    return [node.args[0], [found[0]] if isinstance(node.args[1], list) else axis, *node.args[2:]]


def _new_sizes(how: Rewriting, node: Node) -> list[Argument]:
    sizes = lengths(how.type(node.name, node.type))
    place = 0 if node.word == "full" else 1
    return [*node.args[:place], sizes, *node.args[place + 1 :]]


def _new_taken(how: Rewriting, node: Node) -> list[Argument]:
    axis, by = taken_by(node)
    now = how.axis(next(node.reads()), axis)
    if now is None or by is None:
        raise UnfitError
    given: list[Argument] = [None] * now
    return [node.args[0], cast(Argument, [*given, by])]


ARGUMENTS: Mapping[str, _Written] = {
    **dict.fromkeys(FOLDED_AT, _new_folded),
    **dict.fromkeys(SCANS, _new_axis),
    "sort.default": _new_axis,
    "select.int": _new_axis,
    SLICE: _new_axis,
    "cat.default": _new_axis,
    "permute.default": _new_order,
    "unsqueeze.default": _new_look,
    "squeeze.dims": _new_look,
    "squeeze.dim": _new_look,
    "expand.default": _new_sizes,
    "index.Tensor": _new_taken,
    "index_select.default": _new_axis,
    "full.default": _new_sizes,
}
