# SPDX-License-Identifier: Apache-2.0
"""Where the axes of an operation's value lie among those of its operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from npuforge.generate.lm.parts.axes import Axes
from npuforge.generate.lm.parts.axis_operations import (
    FOLDED_AT,
    SCANS,
    SLICE,
    axis_of,
    folded,
    several,
    taken_by,
)
from npuforge.spec.graph import Argument, Node

# Nothing where it is not known.
_Rule = Callable[[Axes, Node], list[int] | None]


def each(axes: Axes, node: Node) -> list[int] | None:
    """Operands meet at their last axes."""
    found = [axes.new() for _ in node.type.shape]
    for name in node.reads():
        for one, other in zip(reversed(axes.places[name]), reversed(found), strict=False):
            axes.meet(one, other)
    return found


def _same(axes: Axes, node: Node) -> list[int] | None:
    return axes.of(node.args[0])


def _along(axes: Axes, node: Node) -> list[int] | None:
    """Elements of one axis are not alike, but all that is left of it is."""
    places, axis = axes.of(node.args[0]), axis_of(node, 1, -1)
    if axis is None or not places:
        return None
    axes.alone.add(places[axis])
    return places


def _select(axes: Axes, node: Node) -> list[int] | None:
    places, axis = _along(axes, node), axis_of(node, 1, 0)
    if places is None or axis is None:
        return None
    axis %= len(places)
    return [*places[:axis], *places[axis + 1 :]]


def _topk(axes: Axes, node: Node) -> list[int] | None:
    """The largest along the last axis."""
    places, axis = axes.of(node.args[0]), axis_of(node, 2, -1)
    if axis is None or axis % len(places) != len(places) - 1:
        return None
    return _one_alone(axes, places, axis)


def _slice(axes: Axes, node: Node) -> list[int] | None:
    places, axis = axes.of(node.args[0]), axis_of(node, 1, 0)
    if axis is None:
        return None
    return _one_alone(axes, places, axis)


def _one_alone(axes: Axes, places: list[int], axis: int) -> list[int]:
    """With another place where an axis has other elements."""
    found = list(places)
    found[axis] = axes.new()
    axes.alone |= {places[axis], found[axis]}
    return found


def _join(axes: Axes, node: Node) -> list[int] | None:
    axis = axis_of(node, 1, 0)
    parts = [axes.places[name] for name in node.reads()]
    if axis is None or len({len(part) for part in parts}) != 1:
        return None
    found = [axes.new() for _ in parts[0]]
    for part in parts:
        axes.alone |= {part[axis], found[axis]}
        axes.joined |= {part[axis], found[axis]}
        for number, (one, other) in enumerate(zip(part, found, strict=True)):
            if number != axis % len(found):
                axes.meet(one, other)
    return found


def _permute(axes: Axes, node: Node) -> list[int] | None:
    places = axes.of(node.args[0])
    return [places[cast(int, axis)] for axis in cast(list[Argument], node.args[1])]


def _unsqueeze(axes: Axes, node: Node) -> list[int] | None:
    places, axis = list(axes.of(node.args[0])), axis_of(node, 1, 0)
    if axis is None:
        return None
    places.insert(axis % (len(places) + 1), axes.new())
    return places


def _squeeze(axes: Axes, node: Node) -> list[int] | None:
    places, given = axes.of(node.args[0]), node.args[1]
    gone = {cast(int, axis) % len(places) for axis in several(given)}
    return [place for number, place in enumerate(places) if number not in gone]


def _expand(axes: Axes, node: Node) -> list[int] | None:
    places = axes.of(node.args[0])
    return [*(axes.new() for _ in range(len(node.type.shape) - len(places))), *places]


def _fold(axes: Axes, node: Node) -> list[int] | None:
    places = axes.of(node.args[0])
    gone = {axis % len(places) for axis in folded(node)} or set(range(len(places)))
    if len(node.type.shape) == len(places):
        return places
    return [place for number, place in enumerate(places) if number not in gone]


def _alike(axes: Axes, node: Node) -> list[int] | None:
    """Of no operand, all elements the same."""
    return [axes.new() for _ in node.type.shape]


def _counted(axes: Axes, node: Node) -> list[int] | None:
    found = [axes.new() for _ in node.type.shape]
    axes.alone |= set(found)
    return found


def _selected(axes: Axes, node: Node) -> list[int] | None:
    """By a list of places along an axis."""
    return _by_places(axes, node, axis_of(node, 1, 0), node.args[2])


def _taken(axes: Axes, node: Node) -> list[int] | None:
    """By a list of places along one axis, wherever it is."""
    axis, by = taken_by(node)
    return _by_places(axes, node, axis, by)


def _by_places(axes: Axes, node: Node, axis: int | None, by: Argument) -> list[int] | None:
    found = list(axes.of(node.args[0]))
    if axis is None or len(axes.of(by)) != 1 or axis >= len(found):
        return None
    axes.alone |= {found[axis], *axes.of(by)}
    found[axis] = axes.of(by)[0]
    return found


RULES: Mapping[str, _Rule] = {
    **dict.fromkeys(FOLDED_AT, _fold),
    **dict.fromkeys(SCANS, _along),
    "sort.default": _along,
    "topk.default": _topk,
    "select.int": _select,
    SLICE: _slice,
    "cat.default": _join,
    "permute.default": _permute,
    "unsqueeze.default": _unsqueeze,
    "squeeze.dims": _squeeze,
    "squeeze.dim": _squeeze,
    "clone.default": _same,
    "alias.default": _same,
    "getitem": _same,
    "expand.default": _expand,
    "index.Tensor": _taken,
    "index_select.default": _selected,
    "full.default": _alike,
    "scalar_tensor.default": _alike,
    "arange.start_step": _counted,
}
