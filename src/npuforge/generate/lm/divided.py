# SPDX-License-Identifier: Apache-2.0
"""A question in parts, each as small as those that a model has seen most of.

Where a model does not know how to write an operator as a whole it may still know how to write each
step: what is computed element by element, what is folded, what is moved. A part is a graph of its
own, whose tensors are those of the whole or what other parts leave.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, cast

from npuforge.spec.graph import (
    Argument,
    Extent,
    Graph,
    Node,
    Result,
    Source,
    Symbol,
    TensorType,
)
from npuforge.spec.size import Size, product

Kind = Literal["elements", "folded", "other"]

# What needs no room between parts: another look at a value, or a constant. Who reads it has it.
_FREE = re.compile(
    r"^(?:view|_unsafe_view|squeeze|unsqueeze|expand|clone|alias|detach|scalar_tensor|full|zeros|ones"
    r"|arange|lift_fresh_copy|split|split_with_sizes|unbind|chunk)\b"
)
_PARTS = re.compile(r"^(?:select|slice)\b")  # free where parts may be larger than an operation
_FOLDS = re.compile(
    r"^(?:sum|mean|amax|amin|prod|var|std|any|all|argmax|argmin|linalg_vector_norm)\b"
)
# What has as many elements as its operands and is not computed from each alone.
_MOVES = re.compile(
    r"^(?:_softmax|_log_softmax|cum|logcumsumexp|sort|topk|flip|roll|permute|transpose|t$|cat|index"
    r"|gather|scatter|slice_scatter|select_scatter|native_|_native|tril|triu|constant_pad|repeat|.*pool"
    r"|upsample|embedding|grid_sampler|as_strided|diagonal|copy)"
)
_ITEM, _VIEW, _JOIN, _SLICE = "getitem", "view", "cat", "slice.Tensor"
_MOST = 12  # operations of a part
_ONE = Size.of(1)


@dataclass
class _Group:
    kind: Kind
    extents: tuple[str, ...]  # of its values
    gone_over: tuple[str, ...]  # extents of what is computed element by element
    nodes: list[Node] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        return {node.name for node in self.nodes}


class Part(NamedTuple):
    """A graph of its own. Its tensors are called as in the whole, where they have these `extents`,
    and so are the values that it `leaves`, in the order of its results."""

    graph: Graph
    extents: dict[str, tuple[str, ...]]
    leaves: list[str]
    same: list[tuple[str, str]]  # extents of the whole that are one in the part


def divided(graph: Graph, most: int = _MOST) -> list[Part]:
    """The parts of a graph, each after those that it reads; none where it is one part, or cannot be
    divided: what is updated would be read afterwards, or an extent is that of no tensor."""
    groups = _grouped(graph, most)
    if len(groups) < 2:
        return []
    parts = [_part(graph, group, groups) for group in groups]
    fresh = [result.name for result in graph.results if result.mutates is None]
    if not _updated_last(graph, parts) or len(set(fresh)) < len(fresh):
        return []
    found: list[Part] = []
    for part in parts:
        plain = _flat(_without_views(part))
        same = _met(plain)
        plain = _Resized(same).graph(plain)
        named = _named(plain, graph)
        if named is None:
            return []
        extents = {source.name: source.type.extents for source in plain.sources}
        leaves = [result.name for result in part.results]
        found.append(Part(named, extents, leaves, [(str(a), b) for a, b in same.items()]))
    return found


def _grouped(graph: Graph, most: int) -> list[_Group]:
    nodes = {node.name: node for node in graph.nodes}
    types = {source.name: source.type for source in graph.sources}
    types |= {node.name: found for node in graph.nodes if (found := node.types[0]) is not None}
    results = {result.name for result in graph.results}
    free = _free(graph, types, most)
    read_by = _readers(graph, free - results)
    groups: list[_Group] = []
    place: dict[str, int] = {}
    for node in graph.nodes:
        if node.name in free - results:
            continue
        made = [place[one] for one in _roots(node, nodes, free - results) if one in place]
        before = groups[max(made)] if made else None
        kind = _kind(node, types)
        if before is not None and _joins(node, kind, before, read_by, most, node.name in free):
            number = max(made)
        else:
            number = len(groups)
            own = types[node.name].extents if node.name in types else ()
            groups.append(_Group(kind, own, _folded_over(node, types) if kind == "folded" else own))
        groups[number].nodes.append(node)
        if kind == "folded" and groups[number].kind == "elements":
            groups[number].kind, groups[number].extents = kind, types[node.name].extents
        place[node.name] = number
    return _merged(groups, read_by, most)


def _merged(groups: list[_Group], read_by: Mapping[str, set[str]], most: int) -> list[_Group]:
    """With what only one group reads, element by element, in that group."""
    found: list[_Group] = []
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
    group: _Group,
    read_by: Mapping[str, set[str]],
    most: int,
    look: bool,
) -> bool:
    """Whether a node is part of the group that computes the last of its operands."""
    if node.op == _ITEM or look:
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
    nothing it is made of has."""
    nodes = {node.name: node for node in graph.nodes}
    found: dict[str, set[str]] = {}  # with the extents that are needed for each
    for node in graph.nodes:
        roots = [one for one in _roots(node, nodes, found) if one in types]
        known = {name for one in roots for size in types[one].sizes for name in size.names}
        needed = {name for size in _sizes(node) for name in size.names}
        needed = needed.union(*(found[one] for one in node.reads() if one in found))
        look = _is_free(node, nodes) or is_beginning(node)
        look = look or (most > 1 and _PARTS.match(node.word) is not None)
        if look or not needed <= known:
            found[node.name] = needed
    return set(found)


def _sizes(node: Node) -> Iterator[Size]:
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


def _is_free(node: Node, nodes: Mapping[str, Node]) -> bool:
    if node.op == _ITEM:
        whole = nodes.get(next(node.reads()))
        return whole is not None and _FREE.match(whole.word) is not None
    return _FREE.match(node.word) is not None


def is_beginning(node: Node) -> bool:
    """Whether a node is the first part of what it reads: memory is the same."""
    where = [*node.args[1:], *(0, 0, None, 1)[len(node.args) - 1 :]]
    return node.word == _SLICE and where[0] == 0 and where[1] in (0, None) and where[3] == 1


def _kind(node: Node, types: Mapping[str, TensorType]) -> Kind:
    moved = _MOVES.match(node.word) or _PARTS.match(node.word)
    if moved or len(node.types) != 1 or node.op == _ITEM:
        return "other"
    if _FOLDS.match(node.word):
        return "folded"
    return "elements" if _meeting(node, types) == node.type.shape else "other"


def _meeting(node: Node, types: Mapping[str, TensorType]) -> tuple[int, ...]:
    """The shape in which the operands of a node meet, in the example."""
    shapes = [types[one].shape for one in node.reads() if one in types]
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(max(extents) for extents in zip(*padded, strict=True))


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


def _part(graph: Graph, group: _Group, groups: Sequence[_Group]) -> Graph:
    nodes = {node.name: node for node in graph.nodes}
    own = {node.name for node in group.nodes}
    elsewhere = {node.name for other in groups if other is not group for node in other.nodes}
    needed = set(own)
    waiting = list(own)
    while waiting:
        for one in nodes[waiting.pop()].reads():
            if one in nodes and one not in elsewhere and one not in needed:
                needed.add(one)
                waiting.append(one)
    inside = [node for node in graph.nodes if node.name in needed]
    read = dict.fromkeys(one for node in inside for one in node.reads() if one not in needed)
    kinds = {source.name: source for source in graph.sources}
    kinds |= {name: Source(name, nodes[name].type, "input") for name in read if name not in kinds}
    later = {
        one
        for other in groups
        if other is not group
        for node in other.nodes
        for one in _reached(node, nodes, elsewhere | own)
    }
    asked = [result for result in graph.results if result.name in own]
    known = {result.name for result in asked}
    updated = {result.mutates for result in asked}
    left = [Result(n.name) for n in inside if n.name in own & later and n.name not in known]
    return replace(
        graph,
        sources=[s for name, s in kinds.items() if name in read or (s.target or name) in updated],
        nodes=inside,
        results=[*left, *asked],
        symbols=[],
    )


def _reached(node: Node, nodes: Mapping[str, Node], stops: set[str]) -> Iterator[str]:
    """What a node reads of what parts leave."""
    for one in node.reads():
        if one in stops or one not in nodes:
            yield one
        else:
            yield from _reached(nodes[one], nodes, stops)


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


def _without_views(part: Graph) -> Graph:
    """With tensors of the shape in which they are read, and results of that in which they are
    computed: their elements lie one after the other in memory, whatever it is."""
    before, part = part, _without_view(part)
    return part if part == before else _without_views(part)


def _without_view(part: Graph) -> Graph:
    """Without the first view of each tensor, and the last of each result."""
    nodes = {node.name: node for node in part.nodes}
    results = {result.name for result in part.results}
    joins = any(node.word == _JOIN for node in part.nodes)
    views = {_VIEW, "unsqueeze"} if joins else {_VIEW}  # a join's parts are joined as they are
    sources: list[Source] = []
    names: dict[str, str] = {}
    for source in part.sources:
        readers = [node for node in part.nodes if source.name in node.reads()]
        looks = [node for node in readers if node.word in views or is_beginning(node)]
        seen = {node.type for node in looks if node.name not in results}
        alike = len(seen) == 1 and len(looks) == len(readers)
        sources.append(replace(source, type=seen.pop()) if alike else source)
        names |= {node.name: source.name for node in readers} if alike else {}
    left: dict[str, str] = {}
    for result in part.results:
        node = nodes.get(result.name)
        if node is not None and node.word == _VIEW and node.name not in names:
            read = next(node.reads())
            if read in nodes and read not in names and read not in results:
                left[result.name] = read
    return replace(
        part,
        sources=sources,
        nodes=[n.reading(names) for n in part.nodes if n.name not in {*names, *left}],
        results=[replace(one, name=left.get(one.name, one.name)) for one in part.results],
    )


def _flat(part: Graph) -> Graph:
    """With one axis before the last where a part of the last axis is all that is taken."""
    if len(part.nodes) > 1 or len(part.sources) != 1 or not _PARTS.match(part.nodes[0].word):
        return part
    (node,), (source,) = part.nodes, part.sources
    kind, axis = source.type, node.args[1] if len(node.args) > 1 else 0
    rank = len(kind.shape)
    if rank < 3 or not isinstance(axis, int) or axis % rank != rank - 1:
        return part
    rows, many = product(kind.sizes[:-1]), math.prod(kind.shape[:-1])
    left = len(node.type.shape) - rank + 1  # axes of what is taken, after the rows
    taken = TensorType(
        (many, *node.type.shape[rank - 1 :][:left]),
        node.type.dtype,
        (str(rows), *node.type.extents[rank - 1 :][:left]),
    )
    flat = TensorType((many, kind.shape[-1]), kind.dtype, (str(rows), kind.extents[-1]))
    return replace(
        part,
        sources=[replace(source, type=flat)],
        nodes=[replace(node, args=[node.args[0], 1, *node.args[2:]], types=[taken])],
    )


def _met(part: Graph) -> dict[Size, str]:
    """Extents of tensors that meet, with those of what comes of it: they are the same numbers."""
    types = {source.name: source.type for source in part.sources}
    types |= {node.name: kind for node in part.nodes if (kind := node.types[0]) is not None}
    found: dict[Size, str] = {}
    for node in part.nodes:
        if _kind(node, types) == "elements":
            own = list(zip(node.type.sizes, node.type.extents, strict=True))
            for read in (types[name].sizes for name in node.reads() if name in types):
                for size, (met, text) in zip(reversed(read), reversed(own), strict=False):
                    if size not in (_ONE, met) and met.known is None:
                        found[size] = text
    return found


def _named(part: Graph, whole: Graph) -> Graph | None:
    """The part with extents that its own tensors have: what follows from the whole's is a number to
    it like any other."""
    least = {symbol.name: symbol.least for symbol in whole.symbols}
    fresh: dict[Size, str] = {}
    symbols: dict[str, Symbol] = {}
    for source in part.sources:
        kind = source.type
        for axis, (text, example) in enumerate(zip(kind.extents, kind.shape, strict=True)):
            size = Size.parse(text)
            if size.known is not None:
                continue
            name = text if text.isidentifier() else fresh.setdefault(size, f"part_{len(fresh)}")
            symbols.setdefault(name, Symbol(name, source.name, axis, example, least.get(name, 1)))
    found = replace(_Resized(fresh).graph(part), symbols=list(symbols.values()))
    found = _Resized(_joined(found, symbols.keys())).graph(found)
    used = {name for node in found.nodes for size in _sizes(node) for name in size.names}
    return found if used <= symbols.keys() else None


def _joined(part: Graph, known: Collection[str]) -> dict[Size, str]:
    """Extents of joins that no tensor of the part has: they are as long as what is joined."""
    types = {source.name: source.type for source in part.sources}
    types |= {node.name: kind for node in part.nodes if (kind := node.types[0]) is not None}
    found: dict[Size, str] = {}
    for node in part.nodes:
        if node.word == _JOIN:
            axis = node.args[1] if len(node.args) > 1 else 0
            axis = (axis if isinstance(axis, int) else 0) % len(node.type.shape)
            size = node.type.sizes[axis]
            if not size.names <= set(known):
                whole = Size.of(0)
                for one in node.reads():
                    whole = whole + types[one].sizes[axis]
                found[size] = str(whole)
    return found


@dataclass(frozen=True)
class _Resized:
    """Other names for sizes."""

    names: Mapping[Size, str]

    def graph(self, graph: Graph) -> Graph:
        return replace(
            graph,
            sources=[replace(one, type=self.type(one.type)) for one in graph.sources],
            nodes=[self.node(node) for node in graph.nodes],
        )

    def type(self, kind: TensorType) -> TensorType:
        extents = (
            self.names.get(size, text) for size, text in zip(kind.sizes, kind.extents, strict=True)
        )
        return replace(kind, extents=tuple(extents))

    def node(self, node: Node) -> Node:
        return replace(
            node,
            args=[self.argument(one) for one in node.args],
            kwargs={key: self.argument(one) for key, one in node.kwargs.items()},
            types=[self.type(kind) if kind is not None else None for kind in node.types],
        )

    def argument(self, argument: Argument) -> Argument:
        if isinstance(argument, Extent):
            return Extent(self.names.get(argument.size, argument.text), argument.example)
        if isinstance(argument, list):
            return cast(Argument, [self.argument(cast(Argument, one)) for one in argument])
        return argument
