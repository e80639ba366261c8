# SPDX-License-Identifier: Apache-2.0
"""The same graph with other numbers as its example: another schedule may suit it better."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from npuforge.spec.graph import Argument, Extent, Graph, Node, TensorType
from npuforge.spec.size import SizeError

_MOST = 1 << 24  # elements of the largest tensor
_ALIGNED = (8, 16, 32, 64, 128, 256, 512, 768, 1024, 2048, 4096, 8192, 16384)


def resized(graph: Graph, rng: random.Random) -> Graph | None:
    """None where nothing may vary, or no numbers were found that go together."""
    names = {name for s in graph.sources for size in s.type.sizes for name in size.names}
    if not graph.symbols or names - {symbol.name for symbol in graph.symbols}:
        return None
    for _ in range(8):
        values = {symbol.name: _extent(rng, symbol.least) for symbol in graph.symbols}
        try:
            made = _with(graph, values)
        except SizeError:
            continue
        if all(0 < math.prod(s.type.shape) <= _MOST for s in made.sources):
            return made
    return None


def _extent(rng: random.Random, least: int) -> int:
    value = rng.choice(_ALIGNED) if rng.random() < 0.5 else int(2 ** rng.uniform(1, 14))
    return max(least, value)


def _with(graph: Graph, values: dict[str, int]) -> Graph:
    def typed(kind: TensorType) -> TensorType:
        return replace(kind, shape=tuple(size.at(values) for size in kind.sizes))

    def argument(given: Argument) -> Argument:
        if isinstance(given, Extent):
            return Extent(given.text, given.size.at(values))
        return given

    def noded(node: Node) -> Node:
        return replace(
            node,
            args=[argument(given) for given in node.args],
            kwargs={key: argument(given) for key, given in node.kwargs.items()},
            types=[typed(kind) if kind is not None else None for kind in node.types],
        )

    return replace(
        graph,
        sources=[replace(source, type=typed(source.type)) for source in graph.sources],
        nodes=[noded(node) for node in graph.nodes],
        symbols=[replace(symbol, example=values[symbol.name]) for symbol in graph.symbols],
        eager=[],
    )
