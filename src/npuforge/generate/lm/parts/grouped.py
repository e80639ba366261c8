# SPDX-License-Identifier: Apache-2.0
"""Operations of a question that are asked together, as parts of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from npuforge.generate.lm.question.kinds import ITEM, TAKEN, Kind, is_beginning, is_free, kind_of
from npuforge.generate.lm.question.rewriting import RANGE
from npuforge.spec.graph import Argument, Extent, Graph, Node, TensorType
from npuforge.spec.size import Size

_JOIN = "cat"
_REPEAT = "expand"
_FILLS = ("full", _REPEAT)


@dataclass
class Group:
    kind: Kind
    extents: tuple[str, ...]  # of its values
    gone_over: tuple[str, ...]  # extents of what is computed element by element
    nodes: list[Node] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        return {node.name for node in self.nodes}


def grouped(graph: Graph, most: int) -> list[Group]:
    nodes = {node.name: node for node in graph.nodes}
    types = {source.name: source.type for source in graph.sources}
    types |= {node.name: found for node in graph.nodes if (found := node.types[0]) is not None}
    results = {result.name for result in graph.results}
    free = _free(graph, types, most)
    read_by = _readers(graph, free - results)
    groups: list[Group] = []
    place: dict[str, int] = {}
    for node in graph.nodes:
        if node.name in free - results:
            continue
        made = [place[one] for one in _roots(node, nodes, free - results) if one in place]
        before = groups[max(made)] if made else None
        kind = kind_of(node, types)
        if before is not None and _joins(node, kind, before, read_by, most, node.name in free):
            number = max(made)
        else:
            number = len(groups)
            own = types[node.name].extents if node.name in types else ()
            groups.append(Group(kind, own, _folded_over(node, types) if kind == "folded" else own))
        groups[number].nodes.append(node)
        if kind == "folded" and groups[number].kind == "elements":
            groups[number].kind, groups[number].extents = kind, types[node.name].extents
        place[node.name] = number
    return _merged(groups, read_by, most)


def _merged(groups: list[Group], read_by: Mapping[str, set[str]], most: int) -> list[Group]:
    """With what only one group reads, element by element, in that group."""
    found: list[Group] = []
    for number, group in enumerate(groups):
        outside = set().union(*(read_by[name] for name in group.names)) - group.names
        into = next((one for one in groups[number + 1 :] if outside <= one.names), None)
        if (
            group.kind == "elements"
            and into is not None
            and into.kind != "other"
            and into.gone_over == group.extents
            and len(into.nodes) + len(group.nodes) <= most
        ):
            into.nodes[:0] = group.nodes
        else:
            found.append(group)
    return found


def _folded_over(node: Node, types: Mapping[str, TensorType]) -> tuple[str, ...]:
    """The extents of what a node folds."""
    return types[next(node.reads())].extents


def _joins(
    node: Node,
    kind: Kind,
    group: Group,
    read_by: Mapping[str, set[str]],
    most: int,
    look: bool,
) -> bool:
    """Whether a node is part of the group that computes the last of its operands."""
    if node.op == ITEM or look:
        return True
    if len(group.nodes) >= most:
        return False
    if kind == "elements" and group.kind != "other":
        return group.extents == node.type.extents
    inside = group.names | {node.name}
    return (
        kind == "folded"
        and group.kind == "elements"
        and all(read_by[name] <= inside for name in group.names)
    )


def _free(graph: Graph, types: Mapping[str, TensorType], most: int) -> set[str]:
    """Values that parts have each for themselves: looks, constants, and what has an extent that
    nothing it is made of has. Where parts are the smallest, ranges are parts of their own, and so
    is what is joined."""
    nodes = {node.name: node for node in graph.nodes}
    found: dict[str, set[str]] = {}  # with the extents that are needed for each
    apart = _apart(graph, types) if most == 1 else set()
    for node in graph.nodes:
        roots = [one for one in _roots(node, nodes, found) if one in types]
        known = {name for one in roots for size in types[one].sizes for name in size.names}
        needed = {name for size in sizes_of(node) for name in size.names}
        needed = needed.union(*(found[one] for one in node.reads() if one in found))
        if node.name in apart:
            continue
        look = is_free(node, nodes) or is_beginning(node)
        look = look or (most > 1 and TAKEN.match(node.word) is not None)
        if look or not needed <= known:
            found[node.name] = needed
    return set(found)


def _apart(graph: Graph, types: Mapping[str, TensorType]) -> set[str]:
    """Ranges, and what is filled or repeated where it is joined, or has an extent that nothing else
    has which it meets: who compares, moves or joins by it has enough to do. So is what is repeated
    in the end, once it was computed."""
    nodes = {node.name: node for node in graph.nodes}
    found = {node.name for node in graph.nodes if node.op == RANGE}
    left = [nodes[result.name] for result in graph.results if result.name in nodes]
    made = [node for node in left if node.word == _REPEAT and _is_computed(node, nodes)]
    found |= {node.name for node in made}
    fills = {node.name for node in graph.nodes if node.word in _FILLS}
    for node in graph.nodes:
        read = set(node.reads())
        others = {one for name in read - fills if name in types for one in types[name].extents}
        for name in read & fills:
            if node.word == _JOIN or not set(types[name].extents) <= {"1", *others}:
                found.add(name)
    return found


def _is_computed(look: Node, nodes: Mapping[str, Node]) -> bool:
    """Whether what is looked at is neither a tensor nor free."""
    read = nodes.get(next(look.reads()))
    return read is not None and (not is_free(read, nodes) or _is_computed(read, nodes))


def sizes_of(node: Node) -> Iterator[Size]:
    """All that a node says of extents: those of its values, and those it is given."""
    for kind in node.types:
        yield from kind.sizes if kind is not None else ()
    waiting: list[Argument] = [*node.args, *node.kwargs.values()]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Extent):
            yield one.size
        elif isinstance(one, list):
            waiting += cast(list[Argument], one)


def _readers(graph: Graph, free: set[str]) -> dict[str, set[str]]:
    """Who reads each value, through what is free; nobody's name where it is a result."""
    nodes = {node.name: node for node in graph.nodes}
    found: dict[str, set[str]] = {node.name: set() for node in graph.nodes}
    for node in graph.nodes:
        if node.name not in free:
            for one in _roots(node, nodes, free):
                found.setdefault(one, set()).add(node.name)
    for result in graph.results:
        found.setdefault(result.name, set()).add("")
    return found


def _roots(node: Node, nodes: Mapping[str, Node], free: Iterable[str]) -> Iterator[str]:
    """What a node reads, through what is free."""
    for one in node.reads():
        if one in free:
            yield from _roots(nodes[one], nodes, free)
        else:
            yield one
