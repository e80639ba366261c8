# SPDX-License-Identifier: Apache-2.0
"""A graph in the operations that are common, where rare ones say the same.

PyTorch has an operation for a number as the second operand, which export writes here and there, and
one that holds a tensor between two others, a maximum and a minimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from npuforge.spec.graph import Graph, Node, Ref, TensorType

_BY_A_NUMBER = {f"aten.{op}.Scalar": f"aten.{op}.Tensor" for op in ("add", "sub", "mul", "div")}
_BETWEEN = "aten.clamp.Tensor"
_BOUNDS = ("aten.maximum.default", "aten.minimum.default")


def spelled(graph: Graph) -> Graph:
    """The graph with each rare operation as the common ones that it comes to."""
    types = {source.name: source.type for source in graph.sources}
    types |= {node.name: node.type for node in graph.nodes if node.types and node.types[0]}
    nodes = [common for node in graph.nodes for common in _common(node, types)]
    return replace(graph, nodes=nodes)


def _common(node: Node, types: dict[str, TensorType]) -> Iterator[Node]:
    if node.op in _BY_A_NUMBER:
        yield replace(node, op=_BY_A_NUMBER[node.op])
        return
    held = node.args[0] if node.op == _BETWEEN else None
    bounds = [
        (op, bound)
        for op, bound in zip(_BOUNDS, node.args[1:], strict=False)
        if isinstance(bound, Ref)
    ]
    # The bounds must neither be larger than what they hold nor of another type.
    alike = isinstance(held, Ref) and types.get(held.ref) == node.type
    if not isinstance(held, Ref) or not alike or len(bounds) != 2 or node.kwargs:
        yield node
        return
    names = (f"{node.name}_low", node.name)
    for name, (op, bound) in zip(names, bounds, strict=True):
        yield replace(node, name=name, op=op, args=[held, bound])
        held = Ref(name)
