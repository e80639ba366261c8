# SPDX-License-Identifier: Apache-2.0
"""What an operator is made of, and which worked examples are made alike.

Kernels that share their structure share their schedule: how rows are divided, what is kept, when it
is written. Likeness is the share of structures in common (Jaccard), as between kernels in the
literature; of examples that are equally alike the shorter one comes first.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from npuforge.spec.graph import Graph, Node
from npuforge.tile import texts

_LONG_ROW = 16_384  # elements; a row in float32 with its copies no longer fits the unified buffer


class _Rules(msgspec.Struct, frozen=True):
    operations: dict[str, list[str]]  # a structure, and what names of operations begin with
    examples: dict[str, list[str]]  # an example, and its structures


@cache
def _rules() -> _Rules:
    text = files(__package__).joinpath("structures.toml").read_bytes()
    return msgspec.toml.decode(text, type=_Rules)


def structures(graph: Graph) -> frozenset[str]:
    """What the graph is made of."""
    found = {
        name
        for name, starts in _rules().operations.items()
        for node in graph.nodes
        if node.op.removeprefix("aten.").startswith(tuple(starts))
    }
    for node in graph.nodes:
        found |= _reduced(node, graph)
    if any(result.mutates is not None for result in graph.results):
        found.add("in place")
    if len(graph.results) > 1:
        found.add("several results")
    rows = [source.type.shape for source in graph.sources if len(source.type.shape) > 1]
    if rows and max(shape[-1] for shape in rows) > _LONG_ROW:
        found.add("long rows")
    return frozenset(found or {"element-wise"})


def _reduced(node: Node, graph: Graph) -> set[str]:
    """Which way a reduction goes: along rows, down columns, over everything."""
    if not node.op.removeprefix("aten.").startswith(tuple(_rules().operations["reduction"])):
        return set()
    if "layer_norm" in node.op:  # its second argument is a shape
        return {"along rows"}
    second = node.args[1] if len(node.args) > 1 else None
    axes = second if isinstance(second, list) else [second]
    numbers = [axis for axis in axes if isinstance(axis, int) and not isinstance(axis, bool)]
    if not numbers or (node.types[0] is not None and node.types[0].shape == ()):
        return {"over everything"}
    rank = max((len(source.type.shape) for source in graph.sources), default=1)
    return {"along rows"} if {-1, rank - 1} & set(numbers) else {"down columns"}


def examples_like(graph: Graph, count: int) -> list[str]:
    """Names of the examples that are most alike."""
    wanted = structures(graph)
    known = texts.examples()

    def unlike(name: str) -> tuple[float, int, str]:
        own = frozenset(_rules().examples[name])
        alike = len(own & wanted) / len(own | wanted)
        return -alike, len(known[name]), name

    return sorted(_rules().examples, key=unlike)[:count]
