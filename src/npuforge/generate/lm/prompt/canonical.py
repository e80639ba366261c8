# SPDX-License-Identifier: Apache-2.0
"""The canonical prompt of the embedded model: a captured graph in names that carry no meaning.

A kernel does not depend on the names of its tensors, so the model never sees them. Sources are
`xa xb ...`, extents `na nb ...`, values `v0 v1 ...` in the order of computation, and the operator
is `op`. Long numbers have short stand-ins, and sizes that the module fixes are extents.
Completions use the same names and numbers; the strategy puts the module's own names back.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from npuforge.errors import UsageError
from npuforge.generate.lm.prompt.common_operations import spelled
from npuforge.generate.lm.prompt.numbers import shortened, stand_ins
from npuforge.generate.lm.prompt.order import ordered
from npuforge.generate.lm.prompt.sizes import freed
from npuforge.spec.graph import (
    Argument,
    Extent,
    Graph,
    Node,
    Ref,
    Result,
    Source,
    TensorType,
    argument_text,
)

OPERATOR = "op"
SYSTEM = "You write tile programs for Ascend NPUs."
# The placement of a tensor in PyTorch, which does not matter to a kernel.
_NOWHERE = {"layout", "device", "pin_memory", "memory_format"}
_LETTERS = [*string.ascii_lowercase, *(a + b for a in "xyz" for b in string.ascii_lowercase)]


@dataclass(frozen=True, slots=True)
class Names:
    """The graph's own names by the canonical ones, and the stand-ins of its long numbers."""

    operator: str
    sources: dict[str, str]
    symbols: dict[str, str]
    numbers: dict[float, float]


def canonical(graph: Graph) -> tuple[Graph, Names]:
    """Return the graph in canonical names and order; `UsageError` if it has too many tensors."""
    graph = freed(ordered(spelled(graph)))
    most = max(len(graph.sources), len(_symbols(graph)))
    if most > len(_LETTERS):
        raise UsageError(f"{graph.name} has {most} tensors or extents, too many for the model")
    sources = {source.name: f"x{_LETTERS[place]}" for place, source in enumerate(graph.sources)}
    targets = {
        source.target: sources[source.name] for source in graph.sources if source.target is not None
    }
    symbols = {name: f"n{_LETTERS[place]}" for place, name in enumerate(_symbols(graph))}
    values = {node.name: f"v{place}" for place, node in enumerate(graph.nodes)}
    numbers = stand_ins(graph)
    rename = _Renamer({**sources, **values}, symbols, numbers)
    renamed = Graph(
        name=OPERATOR,
        sources=[
            Source(
                sources[s.name],
                rename.type(s.type),
                s.origin,
                s.position,
                targets.get(s.target) if s.target is not None else None,
            )
            for s in graph.sources
        ],
        nodes=[rename.node(node, values[node.name]) for node in graph.nodes],
        results=[
            Result(
                rename.names[result.name],
                None
                if result.mutates is None
                else targets.get(result.mutates) or sources[result.mutates],
            )
            for result in graph.results
        ],
        symbols=[
            replace(symbol, name=symbols[symbol.name], source=sources[symbol.source])
            for symbol in graph.symbols
        ],
    )
    back = {new: old for old, new in sources.items()}
    return renamed, Names(graph.name, back, {new: old for old, new in symbols.items()}, numbers)


def conversation(graph: Graph) -> list[dict[str, str]]:
    """Return the prompt for a canonical graph as chat templates take it."""
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt_text(graph)}]


def prompt_text(graph: Graph) -> str:
    """Return a canonical graph as text, a line for each tensor and operation."""
    examples = dict(_examples(graph))
    lines = [f"{source.name}: {source.type.text}" for source in graph.sources]
    if examples:
        lines.append("where " + ", ".join(f"{name}={value}" for name, value in examples.items()))
    for node in graph.nodes:
        named = {key: given for key, given in node.kwargs.items() if key not in _NOWHERE}
        shown = [*map(_shown, node.args), *(f"{k}={_shown(v)}" for k, v in named.items())]
        types = " ".join(kind.text if kind else "-" for kind in node.types)
        lines.append(f"{node.name} = {node.word}({', '.join(shown)}): {types}")
    updated = [
        f"{result.name} -> {result.mutates}" if result.mutates else result.name
        for result in graph.results
    ]
    return "\n".join([*lines, "return " + ", ".join(updated)]) + "\n"


@dataclass(frozen=True, slots=True)
class _Renamer:
    names: dict[str, str]
    symbols: dict[str, str]
    numbers: dict[float, float]

    def type(self, kind: TensorType) -> TensorType:
        extents = tuple(str(size.renamed(self.symbols)) for size in kind.sizes)
        return TensorType(kind.shape, kind.dtype, extents)

    def node(self, node: Node, name: str) -> Node:
        return Node(
            name,
            node.op,
            [self.argument(argument) for argument in node.args],
            {key: self.argument(argument) for key, argument in node.kwargs.items()},
            [self.type(kind) if kind is not None else None for kind in node.types],
        )

    def argument(self, argument: Argument) -> Argument:
        if isinstance(argument, Ref):
            return Ref(self.names[argument.ref])
        if isinstance(argument, Extent):
            return Extent(str(argument.size.renamed(self.symbols)), argument.example)
        if isinstance(argument, list):
            return cast(Argument, [self.argument(item) for item in cast(list[Argument], argument)])
        if isinstance(argument, float):
            return shortened(argument, self.numbers)
        return argument


def _symbols(graph: Graph) -> list[str]:
    """Return every name in an extent, including names of which only multiples are extents."""
    found = [symbol.name for symbol in graph.symbols]
    for source in graph.sources:
        for size in source.type.sizes:
            found += sorted(size.names)
    for node in graph.nodes:
        for kind in node.types:
            for size in kind.sizes if kind is not None else ():
                found += sorted(size.names)
    return list(dict.fromkeys(found))


def _examples(graph: Graph) -> Iterator[tuple[str, int]]:
    """Yield the example of each symbol, and of each extent that is not a single symbol."""
    for symbol in graph.symbols:
        yield symbol.name, symbol.example
    known = {symbol.name for symbol in graph.symbols}
    for source in graph.sources:
        for extent, size, value in zip(
            source.type.extents, source.type.sizes, source.type.shape, strict=True
        ):
            if size.names - known:
                yield extent, value


def _shown(argument: object) -> str:
    return argument_text(argument, quoted=False)
