# SPDX-License-Identifier: Apache-2.0
"""A part of a question in as few axes as it needs.

Axes that lie beside one another in every tensor, and that no operation tells apart, are one axis to
a kernel, which sees memory. Axes of one element are none. What was asked in four axes is then asked
in rows and columns, as most of what a model has seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import cast

from npuforge.generate.lm.parts.grouped import sizes_of
from npuforge.generate.lm.question.kinds import kind_of
from npuforge.generate.lm.question.rewriting import lengths
from npuforge.spec.graph import Argument, Graph, Node, Ref, TensorType
from npuforge.spec.size import Size, product

_ONE = Size.of(1)
_SLICE = "slice.Tensor"


def in_few_axes(part: Graph) -> Graph:
    """The part as it is where an operation has axes of which nothing is known here."""
    axes = _Axes({source.name: source.type for source in part.sources})
    for source in part.sources:
        axes.places[source.name] = [axes.new() for _ in source.type.shape]
    axes.alone |= _counted_in(part, axes)
    for node in part.nodes:
        if not axes.add(node):
            return part
    if axes.meet_themselves():
        return part
    axes.merge()
    try:
        return _rewritten(part, axes)
    except _UnfitError:
        return part


def _counted_in(part: Graph, axes: _Axes) -> set[int]:
    """The axes of tensors that are not read for which a number stands: they are there for it."""
    read = {name for node in part.nodes for name in node.reads()}
    said = {name for node in part.nodes for size in sizes_of(node) for name in size.names}
    return {
        place
        for source in part.sources
        if source.name not in read
        for place, size in zip(axes.places[source.name], source.type.sizes, strict=True)
        if size.names & said
    }


class _UnfitError(Exception):
    """Axes that cannot be one after all."""


@dataclass
class _Axes:
    """The axes of all values. Those that meet are at one place, and places may become one."""

    types: dict[str, TensorType]
    places: dict[str, list[int]] = field(default_factory=dict)
    alone: set[int] = field(default_factory=set)  # places whose order means something
    joined: set[int] = field(default_factory=set)  # places that stay, whatever has one element
    _same: list[int] = field(default_factory=list)

    def new(self) -> int:
        self._same.append(len(self._same))
        return len(self._same) - 1

    def find(self, place: int) -> int:
        while self._same[place] != place:
            place = self._same[place]
        return place

    def meet(self, one: int, other: int) -> None:
        self._same[self.find(one)] = self.find(other)

    def add(self, node: Node) -> bool:
        """Whether it is known where the axes of a node lie."""
        if not node.types or node.types[0] is None:
            return False
        rule = _RULES.get(node.op.removeprefix("aten."))
        if rule is None:
            if kind_of(node, self.types) != "elements":
                return False
            rule = _each
        found = rule(self, node)
        if found is None or len(found) != len(node.type.shape):
            return False
        self.types[node.name] = node.type
        self.places[node.name] = found
        return True

    def meet_themselves(self) -> bool:
        """Whether an axis of a value is at the place of another one of it: rows and columns of the
        same range."""
        found = ([self.find(place) for place in places] for places in self.places.values())
        return any(len(set(places)) < len(places) for places in found)

    def of(self, argument: Argument) -> list[int]:
        return self.places[argument.ref] if isinstance(argument, Ref) else []

    def merge(self) -> None:
        """Make one of any two places that nothing tells apart, as long as there are two."""
        while self._merge_two():
            pass

    def _merge_two(self) -> bool:
        seen = [self._real(name) for name in self.places]
        alone = {self.find(one) for one in self.alone}
        beside = {pair for real in seen for pair in pairwise(real)}
        for one, other in sorted(beside):
            if one in alone or other in alone or one == other:
                continue
            together = [(one in real, other in real) for real in seen]
            order = [(one, other) in pairwise(real) for real in seen]
            if all(both == (there, there) for both, there in zip(together, order, strict=True)):
                self.meet(one, other)
                return True
        return False

    def _real(self, name: str) -> list[int]:
        """The places where a value has more than one element, in order; a merged one once."""
        sizes = self.types[name].sizes
        found = [self.find(p) for p, n in zip(self.places[name], sizes, strict=True) if n != _ONE]
        return [place for place, _ in groupby(found)]

    def kept(self) -> set[int]:
        """Places where anything has more than one element, or is joined."""
        real = {place for name in self.places for place in self._real(name)}
        return real | {self.find(place) for place in self.joined}


@dataclass
class _Rewriting:
    """What becomes of axes."""

    axes: _Axes
    kept: set[int]

    def order(self, name: str) -> list[int]:
        """The places that a value has axes for."""
        found = [self.axes.find(place) for place in self.axes.places[name]]
        order = [place for place, _ in groupby(place for place in found if place in self.kept)]
        if len(set(order)) < len(order):
            raise _UnfitError
        return order

    def axis(self, name: str, axis: int) -> int | None:
        """The axis that an axis is part of, counted from the same end; none where it has one
        element, as others there."""
        order = self.order(name)
        place = self.axes.find(self.axes.places[name][axis])
        if place not in order:
            return None
        return order.index(place) - (len(order) if axis < 0 else 0)

    def type(self, name: str, kind: TensorType) -> TensorType:
        places = [self.axes.find(place) for place in self.axes.places[name]]
        shape: list[int] = []
        extents: list[str] = []
        for wanted in self.order(name):
            own = [number for number, place in enumerate(places) if place == wanted]
            shape.append(math.prod(kind.shape[number] for number in own))
            extents.append(str(product(kind.sizes[number] for number in own)))
        return TensorType(tuple(shape), kind.dtype, tuple(extents))


def _rewritten(part: Graph, axes: _Axes) -> Graph:
    how = _Rewriting(axes, axes.kept())
    results = {result.name for result in part.results}
    nodes: list[Node] = []
    names: dict[str, str] = {}
    for node in part.nodes:
        types = [how.type(node.name, kind) if kind is not None else None for kind in node.types]
        word = node.op.removeprefix("aten.")
        args = _ARGUMENTS.get(word, _as_they_are)(how, node)
        if word in _LOOKS and how.order(next(node.reads())) == how.order(node.name):
            if node.name not in results:
                read = next(node.reads())
                names[node.name] = names.get(read, read)
                continue
            node, args = replace(node, op="aten.clone.default", kwargs={}), node.args[:1]
        new = replace(node, args=args, types=types)
        if word == _SLICE and len(how.order(node.name)) < len(how.order(next(node.reads()))):
            new = _element(new)
        nodes.append(new.reading(names))
    sources = [replace(one, type=how.type(one.name, one.type)) for one in part.sources]
    return replace(part, sources=sources, nodes=nodes)


def _element(node: Node) -> Node:
    """A part of one element, which has no axis then."""
    start = node.args[2] if len(node.args) > 2 else 0
    return replace(node, op="aten.select.int", args=[*node.args[:2], start])


# Where the axes of an operation's value lie; nothing where that is not known.
_Rule = Callable[[_Axes, Node], list[int] | None]
# The arguments of an operation in fewer axes.
_Written = Callable[[_Rewriting, Node], list[Argument]]


def _each(axes: _Axes, node: Node) -> list[int] | None:
    """Operands meet at their last axes."""
    found = [axes.new() for _ in node.type.shape]
    for name in node.reads():
        for one, other in zip(reversed(axes.places[name]), reversed(found), strict=False):
            axes.meet(one, other)
    return found


def _same(axes: _Axes, node: Node) -> list[int] | None:
    return axes.of(node.args[0])


def _along(axes: _Axes, node: Node) -> list[int] | None:
    """Elements of one axis are not alike, but all that is left of it is."""
    places, axis = axes.of(node.args[0]), _axis(node, 1, -1)
    if axis is None or not places:
        return None
    axes.alone.add(places[axis])
    return places


def _select(axes: _Axes, node: Node) -> list[int] | None:
    places, axis = _along(axes, node), _axis(node, 1, 0)
    if places is None or axis is None:
        return None
    axis %= len(places)
    return [*places[:axis], *places[axis + 1 :]]


def _topk(axes: _Axes, node: Node) -> list[int] | None:
    """The largest along the last axis."""
    places, axis = axes.of(node.args[0]), _axis(node, 2, -1)
    if axis is None or axis % len(places) != len(places) - 1:
        return None
    return _one_alone(axes, places, axis)


def _slice(axes: _Axes, node: Node) -> list[int] | None:
    places, axis = axes.of(node.args[0]), _axis(node, 1, 0)
    if axis is None:
        return None
    return _one_alone(axes, places, axis)


def _one_alone(axes: _Axes, places: list[int], axis: int) -> list[int]:
    """With another place where an axis has other elements."""
    found = list(places)
    found[axis] = axes.new()
    axes.alone |= {places[axis], found[axis]}
    return found


def _join(axes: _Axes, node: Node) -> list[int] | None:
    axis = _axis(node, 1, 0)
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


def _permute(axes: _Axes, node: Node) -> list[int] | None:
    places = axes.of(node.args[0])
    return [places[cast(int, axis)] for axis in cast(list[Argument], node.args[1])]


def _unsqueeze(axes: _Axes, node: Node) -> list[int] | None:
    places, axis = list(axes.of(node.args[0])), _axis(node, 1, 0)
    if axis is None:
        return None
    places.insert(axis % (len(places) + 1), axes.new())
    return places


def _squeeze(axes: _Axes, node: Node) -> list[int] | None:
    places, given = axes.of(node.args[0]), node.args[1]
    gone = {cast(int, axis) % len(places) for axis in _several(given)}
    return [place for number, place in enumerate(places) if number not in gone]


def _expand(axes: _Axes, node: Node) -> list[int] | None:
    places = axes.of(node.args[0])
    return [*(axes.new() for _ in range(len(node.type.shape) - len(places))), *places]


def _fold(axes: _Axes, node: Node) -> list[int] | None:
    places = axes.of(node.args[0])
    gone = {axis % len(places) for axis in _folded(node)} or set(range(len(places)))
    if len(node.type.shape) == len(places):
        return places
    return [place for number, place in enumerate(places) if number not in gone]


def _alike(axes: _Axes, node: Node) -> list[int] | None:
    """Of no operand, all elements the same."""
    return [axes.new() for _ in node.type.shape]


def _counted(axes: _Axes, node: Node) -> list[int] | None:
    found = [axes.new() for _ in node.type.shape]
    axes.alone |= set(found)
    return found


def _selected(axes: _Axes, node: Node) -> list[int] | None:
    """By a list of places along an axis."""
    return _by_places(axes, node, _axis(node, 1, 0), node.args[2])


def _axis(node: Node, place: int, usual: int) -> int | None:
    axis = node.args[place] if len(node.args) > place else usual
    return axis if isinstance(axis, int) and not node.kwargs.keys() & {"dim"} else None


def _several(argument: Argument) -> list[Argument]:
    return cast(list[Argument], argument) if isinstance(argument, list) else [argument]


def _folded(node: Node) -> list[int]:
    """The axes that a fold is over; none where it is over all."""
    place = _FOLDED_AT[node.op.removeprefix("aten.")]
    given = node.args[place] if 0 <= place < len(node.args) else None
    return [axis for axis in _several(given) if isinstance(axis, int)]


def _as_they_are(_: _Rewriting, node: Node) -> list[Argument]:
    return node.args


def _new_axis(how: _Rewriting, node: Node) -> list[Argument]:
    """The axis that an operation is along."""
    read = next(node.reads())
    usual = 0 if node.op.removeprefix("aten.") in _FROM_FIRST else -1
    axis = how.axis(read, cast(int, _axis(node, 1, usual)))
    if axis is None:
        raise _UnfitError
    return [node.args[0], axis, *node.args[2:]] if len(node.args) > 1 else node.args


def _new_folded(how: _Rewriting, node: Node) -> list[Argument]:
    axes = _folded(node)
    if not axes:
        return node.args
    read = next(node.reads())
    found = {axis for one in axes if (axis := how.axis(read, one)) is not None}
    if not found:
        raise _UnfitError
    place = _FOLDED_AT[node.op.removeprefix("aten.")]
    several = isinstance(node.args[place], list)
    new = cast(Argument, sorted(found)) if several else min(found)
    return [*node.args[:place], new, *node.args[place + 1 :]]


def _new_order(how: _Rewriting, node: Node) -> list[Argument]:
    before, after = how.order(next(node.reads())), how.order(node.name)
    if before == after:
        raise _UnfitError
    return [node.args[0], [before.index(place) for place in after]]


def _new_look(how: _Rewriting, node: Node) -> list[Argument]:
    """An axis more or less."""
    read = next(node.reads())
    before, after = how.order(read), how.order(node.name)
    longer, shorter = sorted((before, after), key=len, reverse=True)
    found = [number for number, place in enumerate(longer) if place not in shorter]
    if len(found) > 1 or (not found and before != after):
        raise _UnfitError
    if not found:
        return node.args
    axis: Argument = found[0]
    return [node.args[0], [found[0]] if isinstance(node.args[1], list) else axis, *node.args[2:]]


def _new_sizes(how: _Rewriting, node: Node) -> list[Argument]:
    sizes = lengths(how.type(node.name, node.type))
    place = 0 if node.word == "full" else 1
    return [*node.args[:place], sizes, *node.args[place + 1 :]]


def _taken(axes: _Axes, node: Node) -> list[int] | None:
    """By a list of places along one axis, wherever it is."""
    axis, by = _take(node)
    return _by_places(axes, node, axis, by)


def _by_places(axes: _Axes, node: Node, axis: int | None, by: Argument) -> list[int] | None:
    found = list(axes.of(node.args[0]))
    if axis is None or len(axes.of(by)) != 1 or axis >= len(found):
        return None
    axes.alone |= {found[axis], *axes.of(by)}
    found[axis] = axes.of(by)[0]
    return found


def _take(node: Node) -> tuple[int, Ref | None]:
    """The axis and the places; none where there are several axes."""
    places = [(a, one) for a, one in enumerate(_several(node.args[1])) if one is not None]
    axis, by = places[0]
    return axis, by if len(places) == 1 and isinstance(by, Ref) else None


def _new_taken(how: _Rewriting, node: Node) -> list[Argument]:
    axis, by = _take(node)
    now = how.axis(next(node.reads()), axis)
    if now is None or by is None:
        raise _UnfitError
    given: list[Argument] = [None] * now
    return [node.args[0], cast(Argument, [*given, by])]


_FOLDED_AT: Mapping[str, int] = {
    "sum.dim_IntList": 1,
    "sum.default": -1,
    "mean.dim": 1,
    "mean.default": -1,
    "amax.default": 1,
    "amin.default": 1,
    "prod.dim_int": 1,
    "any.dim": 1,
    "all.dim": 1,
    "var.correction": 1,
    "var_mean.correction": 1,
    "linalg_vector_norm.default": 2,
}
_FROM_FIRST = ("select.int", _SLICE, "cat.default", "index_select.default")
_SCANS = ("cumsum.default", "cumprod.default", "_softmax.default", "_log_softmax.default")
_LOOKS = (
    "unsqueeze.default",
    "squeeze.dims",
    "squeeze.dim",
    "clone.default",
    "alias.default",
)
_RULES: Mapping[str, _Rule] = {
    **dict.fromkeys(_FOLDED_AT, _fold),
    **dict.fromkeys(_SCANS, _along),
    "sort.default": _along,
    "topk.default": _topk,
    "select.int": _select,
    _SLICE: _slice,
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
_ARGUMENTS: Mapping[str, _Written] = {
    **dict.fromkeys(_FOLDED_AT, _new_folded),
    **dict.fromkeys(_SCANS, _new_axis),
    "sort.default": _new_axis,
    "select.int": _new_axis,
    _SLICE: _new_axis,
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
