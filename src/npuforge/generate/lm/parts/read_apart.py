# SPDX-License-Identifier: Apache-2.0
"""A tensor that is read as rows and as columns, or along other axes: to a kernel it is two.

`x[:, None] - x` reads each element of a vector once for its row and all of them for the columns.
As a question of two tensors, whose extents nobody says to be the same, it is what a model has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from npuforge.generate.lm.question.kinds import kind_of
from npuforge.spec.graph import Extent, Graph, Node, Source, TensorType
from npuforge.spec.size import Size

_LOOKS = ("view", "unsqueeze")
_ONE = "1"


class Apart(NamedTuple):
    """The graph, and the tensors that its new ones were."""

    graph: Graph
    was: dict[str, Source]

    def extents_of_whole(self, kind: TensorType) -> tuple[str, ...]:
        """The extents of a tensor as they are called where it is not read apart."""
        known = {
            f"{name}_{axis}": Size.parse(extent)
            for name, source in self.was.items()
            for axis, extent in enumerate(source.type.extents)
        }
        return tuple(
            str(size.over(known)) if size.names & known.keys() else text
            for text, size in zip(kind.extents, kind.sizes, strict=True)
        )


def read_apart(part: Graph) -> Apart:
    """With a tensor for each of the ways in which one is read, as far as what comes of it is
    computed element by element."""
    was: dict[str, Source] = {}
    sources: list[Source] = []
    nodes = list(part.nodes)
    updated = {result.mutates for result in part.results}
    results = {result.name for result in part.results}
    for source in part.sources:
        sources.append(source)
        ways = _ways(source, nodes, results)
        if len(ways) < 2 or (source.target or source.name) in updated:
            continue
        first, *more = ways
        for number, axes in enumerate(more, 2):
            other = _named_apart(
                source, number, [one != own for one, own in zip(axes, first, strict=True)]
            )
            readers = ways[axes]
            sources.append(other)
            was[other.name] = source
            nodes = [
                n.reading({source.name: other.name}) if n.name in readers else n for n in nodes
            ]
    found = _sized(sources, nodes) if was else None
    return (
        Apart(part, {})
        if found is None
        else Apart(replace(part, sources=sources, nodes=found), was)
    )


def _ways(
    source: Source, nodes: Sequence[Node], results: set[str]
) -> dict[tuple[int, ...], set[str]]:
    """The readers of a tensor by the axes along which they have it, those that have it as it is
    first."""
    found: dict[tuple[int, ...], set[str]] = {}
    readers = [node for node in nodes if source.name in node.reads()]
    looks = [node for node in readers if node.word in _LOOKS and node.name not in results]
    for node in readers:
        kind = node.type if node in looks else source.type
        found.setdefault(_axes(kind), set()).add(node.name)
    own = _axes(source.type)
    alike = {axes: names for axes, names in found.items() if len(axes) == len(own)}
    return {axes: alike[axes] for axes in sorted(alike, key=lambda axes: axes != own)}


def _axes(kind: TensorType) -> tuple[int, ...]:
    """Of more than one element, counted from the last."""
    places = range(len(kind.extents) - 1, -1, -1)
    return tuple(place for place, one in zip(places, kind.extents, strict=True) if one != _ONE)


def _named_apart(source: Source, number: int, fresh: Iterable[bool]) -> Source:
    """The tensor under another name, with other extents along its `fresh` axes."""
    name, is_fresh = f"{source.name}_{number}", iter(fresh)
    extents = tuple(
        f"{name}_{axis}" if one != _ONE and next(is_fresh) else one
        for axis, one in enumerate(source.type.extents)
    )
    return replace(source, name=name, type=replace(source.type, extents=extents))


def _sized(sources: Sequence[Source], nodes: Sequence[Node]) -> list[Node] | None:
    """The nodes with the extents that follow from those of the tensors."""
    types = {source.name: source.type for source in sources}
    found: list[Node] = []
    for node in nodes:
        if all(one in types for one in node.reads()) and len(node.types) == 1:
            made = _node(node, types)
        else:
            made = None
        if made is None:
            return None
        types[node.name] = made.type
        found.append(made)
    return found


def _node(node: Node, types: Mapping[str, TensorType]) -> Node | None:
    read = [types[one] for one in node.reads()]
    if node.word in _LOOKS and len(read) == 1:
        return _looked_at(node, read[0])
    if kind_of(node, types) != "elements":
        return None
    extents: list[str] = []
    for axis in range(-len(node.type.extents), 0):
        some = {kind.extents[axis] for kind in read if len(kind.extents) >= -axis} - {_ONE}
        if len(some) > 1:
            return None  # the same extent after all
        extents.append(some.pop() if some else _ONE)
    return replace(node, types=[replace(node.type, extents=tuple(extents))])


def _looked_at(node: Node, read: TensorType) -> Node | None:
    """Another look at a tensor, with axes of one element more or less."""
    own = [one for one in read.extents if one != _ONE]
    places = [n for n, one in enumerate(node.type.extents) if one != _ONE]
    if len(own) != len(places):
        return None
    extents = [_ONE] * len(node.type.extents)
    for place, extent in zip(places, own, strict=True):
        extents[place] = extent
    args = list(node.args)
    if node.word == "view":
        args[1] = [_extent(*one) for one in zip(extents, node.type.shape, strict=True)]
    return replace(node, args=args, types=[replace(node.type, extents=tuple(extents))])


def _extent(text: str, example: int) -> Extent | int:
    return example if text.isdigit() else Extent(text, example)
