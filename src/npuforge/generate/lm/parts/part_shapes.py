# SPDX-License-Identifier: Apache-2.0
"""The tensors of a part: of the shape in which it reads them, with extents that it can name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import cast

from npuforge.generate.lm.parts.grouped import sizes_of
from npuforge.generate.lm.question.kinds import is_beginning, kind_of
from npuforge.spec.graph import Argument, Extent, Graph, Node, Source, Symbol, TensorType
from npuforge.spec.size import Size

_VIEW, _JOIN = "view", "cat"
_ONE = Size.of(1)


def without_views(part: Graph) -> Graph:
    """With tensors of the shape in which they are read, and results of that in which they are
    computed: their elements lie one after the other in memory, whatever it is."""
    before, part = part, _without_view(part)
    return part if part == before else without_views(part)


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


def with_shapes(part: Graph, whole: Graph) -> Graph:
    """With tensors of the whole that are not read: the part counts in an extent of theirs that its
    own tensors do not have."""
    said = {name for node in part.nodes for size in sizes_of(node) for name in size.names}
    sources = list(part.sources)
    for name in sorted(said):
        if all(name not in source.type.extents for source in sources):
            having = [one for one in whole.sources if name in one.type.extents]
            sources += sorted(having, key=lambda one: len(one.type.shape))[:1]
    return replace(part, sources=sources)


def met_in(part: Graph) -> dict[Size, str]:
    """Extents of tensors that meet, with those of what comes of it: they are the same numbers."""
    types = {source.name: source.type for source in part.sources}
    types |= {node.name: kind for node in part.nodes if (kind := node.types[0]) is not None}
    found: dict[Size, str] = {}
    for node in part.nodes:
        if kind_of(node, types) == "elements":
            own = list(zip(node.type.sizes, node.type.extents, strict=True))
            for read in (types[name].sizes for name in node.reads() if name in types):
                for size, (met, text) in zip(reversed(read), reversed(own), strict=False):
                    if size not in (_ONE, met) and met.known is None:
                        found[size] = text
    return found


def named(part: Graph, whole: Graph) -> Graph | None:
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
    found = Resized(_solved(part, fresh, symbols.keys())).graph(part)
    tight = {name for node in found.nodes for size in sizes_of(node) for name in _tight(size)}
    found = replace(
        found,
        symbols=[
            replace(one, least=one.example) if one.name in tight else one
            for one in symbols.values()
        ],
    )
    found = Resized(_joined(found, symbols.keys())).graph(found)
    used = {name for node in found.nodes for size in sizes_of(node) for name in size.names}
    return found if used <= symbols.keys() else None


def _solved(part: Graph, fresh: Mapping[Size, str], known: Collection[str]) -> dict[Size, str]:
    """The sizes that have names, and those that follow from them: `nb` where `nb + 1` has one."""
    follow: dict[str, Size] = {}
    for size, name in fresh.items():
        unknown = size.names - set(known) - follow.keys()
        if len(unknown) == 1:
            (symbol,) = unknown
            rest = size - Size.symbol(symbol)
            if symbol not in rest.names:
                follow[symbol] = Size.symbol(name) - rest
    sizes = {size for node in part.nodes for size in sizes_of(node) if size.names & follow.keys()}
    return {size: str(size.over(follow)) for size in sizes} | dict(fresh)


def _tight(size: Size) -> Collection[str]:
    """Symbols that may be too small for a size: of a difference there may be nothing left."""
    return () if size.known is not None or size.is_positive else size.names


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
class Resized:
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
