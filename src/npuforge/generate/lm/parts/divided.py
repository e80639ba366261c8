# SPDX-License-Identifier: Apache-2.0
"""A question in parts, each as small as those that a model has seen most of.

Where a model does not know how to write an operator as a whole it may still know how to write each
step: what is computed element by element, what is folded, what is moved. A part is a graph of its
own, whose tensors are those of the whole or what other parts leave.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from npuforge.generate.lm.parts.few_axes import in_few_axes
from npuforge.generate.lm.parts.grouped import Group, grouped
from npuforge.generate.lm.parts.part_shapes import (
    Resized,
    met_in,
    named,
    with_shapes,
    without_views,
)
from npuforge.generate.lm.parts.read_apart import Apart, read_apart
from npuforge.generate.lm.question.kinds import ITEM
from npuforge.spec.graph import Graph, Node, Result, Source

_MOST = 12  # operations of a part


class Part(NamedTuple):
    """A graph of its own. Its tensors are called as in the whole, where they have these `extents`,
    and so are the values that it `leaves`, in the order of its results."""

    graph: Graph
    extents: dict[str, tuple[str, ...]]
    leaves: list[str]
    same: list[tuple[str, str]]  # extents of the whole that are one in the part
    was: dict[str, str]  # tensors of the whole that are several in the part, by these


def divided(graph: Graph, most: int = _MOST, least: int = 2) -> list[Part]:
    """The parts of a graph, each after those that it reads; none where there are fewer than `least`
    or it cannot be divided: what is updated would be read afterwards, or an extent is that of no
    tensor."""
    groups = grouped(graph, most)
    if len(groups) < least:
        return []
    placed = {node.name: number for number, group in enumerate(groups) for node in group.nodes}
    shared = _shared(graph, placed)
    parts = [_part(graph, group, placed, shared) for group in groups]
    fresh = [result.name for result in graph.results if result.mutates is None]
    if not _updated_last(graph, parts) or len(set(fresh)) < len(fresh):
        return []
    found = [_named(part, graph) or _named(with_shapes(part, graph), graph) for part in parts]
    return [] if None in found else [part for part in found if part is not None]


def _named(part: Graph, whole: Graph) -> Part | None:
    """The part in as few axes as it needs, if it can name their extents then."""
    apart = read_apart(part)
    for one in (apart, Apart(part, {})) if apart.was else (apart,):
        seen = without_views(one.graph)
        for plain in (in_few_axes(seen), seen):
            same = met_in(plain)
            met = Resized(same).graph(plain)
            own = named(met, whole)
            if own is not None:
                extents = {source.name: one.extents_of_whole(source.type) for source in met.sources}
                leaves = [result.name for result in part.results]
                was = {name: source.name for name, source in one.was.items()}
                return Part(own, extents, leaves, [(str(a), b) for a, b in same.items()], was)
    return None


def _part(graph: Graph, group: Group, placed: Collection[str], shared: Set[str]) -> Graph:
    """A group as a graph: `placed` are values that some group computes, `shared` those of them that
    others read."""
    nodes = {node.name: node for node in graph.nodes}
    own = group.names
    needed = set(own)
    waiting = list(own)
    while waiting:
        for one in nodes[waiting.pop()].reads():
            if one in nodes and one not in placed and one not in needed:
                needed.add(one)
                waiting.append(one)
    inside = _by_item([node for node in graph.nodes if node.name in needed])
    read = dict.fromkeys(one for node in inside for one in node.reads() if one not in needed)
    kinds = {source.name: source for source in graph.sources}
    kinds |= {name: Source(name, nodes[name].type, "input") for name in read if name not in kinds}
    asked = [result for result in graph.results if result.name in own]
    known = {result.name for result in asked}
    updated = {result.mutates for result in asked}
    left = [Result(node.name) for node in inside if node.name in (own - known) & shared]
    results = [*left, *asked]
    if known <= {node.name for node in inside if node.op == ITEM}:
        places = {node.name: place for place, node in enumerate(inside)}
        results.sort(key=lambda result: places[result.name])
    return replace(
        graph,
        sources=[s for name, s in kinds.items() if name in read or (s.target or name) in updated],
        nodes=inside,
        results=results,
        symbols=[],
    )


def _by_item(nodes: Sequence[Node]) -> list[Node]:
    """With the items of a value right after it, the first one first."""
    made = {node.name: place for place, node in enumerate(nodes)}

    def order(node: Node) -> tuple[int, int]:
        if node.op == ITEM and isinstance(node.args[1], int):
            return made.get(next(node.reads()), made[node.name]), node.args[1]
        return made[node.name], -1

    return sorted(nodes, key=order)


def _shared(graph: Graph, placed: Mapping[str, int]) -> set[str]:
    """The values that groups other than their own read, also through what is free."""
    found: set[str] = set()
    through: dict[str, frozenset[str]] = {}  # values of groups that a free one is made of
    for node in graph.nodes:
        made = frozenset[str]().union(
            *([one] if one in placed else through.get(one, ()) for one in node.reads())
        )
        if node.name in placed:
            found |= {one for one in made if placed[one] != placed[node.name]}
        else:
            through[node.name] = made
    return found


def _updated_last(graph: Graph, parts: Sequence[Graph]) -> bool:
    """Whether no part reads a tensor that one before it updated, and no other reads the value that
    a tensor was updated with."""
    names = {source.target or source.name: source.name for source in graph.sources}
    updated: set[str] = set()
    for part in parts:
        if updated & {source.name for source in part.sources}:
            return False
        for result in part.results:
            if result.mutates is not None:
                updated |= {names.get(result.mutates, result.mutates), result.name}
    return True
