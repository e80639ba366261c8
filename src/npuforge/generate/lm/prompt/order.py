# SPDX-License-Identifier: Apache-2.0
"""A graph in the order in which a kernel computes it: operands first, each where it is first read.

PyTorch's order is that of the source text. The planner goes from the results to what they read, so
that a model would have to look ahead through the whole graph to know where a program begins. What
is computed twice, read by nobody or changes nothing is not in the planner's programs, and not in
the question.
"""

from __future__ import annotations

from dataclasses import replace

from npuforge.spec.graph import Graph, Node, Ref, TensorType

# With an operand of the type of their value they are that operand.
_SILENT = {
    f"aten.{op}"
    for op in (
        "slice.Tensor", "clone.default", "alias.default", "detach.default", "view.default",
        "expand.default", "_to_copy.default", "lift_fresh_copy.default",
    )
}  # fmt: skip
_RANDOM = ("rand", "dropout", "bernoulli", "normal", "uniform", "multinomial")


def ordered(graph: Graph) -> Graph:
    """The graph with its nodes in that order, none of them twice."""
    nodes = {node.name: node for node in graph.nodes}
    types = {source.name: source.type for source in graph.sources}
    types |= {node.name: node.type for node in graph.nodes if node.types and node.types[0]}
    kept = {result.name for result in graph.results}
    names: dict[str, str] = {}  # nodes by those that do the same
    known: dict[str, str] = {}
    found: list[Node] = []
    waiting = [result.name for result in reversed(graph.results)]
    while waiting:
        name = waiting[-1]
        node = nodes.get(name)
        if node is None or name in names:
            waiting.pop()
            continue
        missing = [one for one in node.reads() if one in nodes and one not in names]
        if missing:
            waiting.extend(reversed(missing))
            continue
        waiting.pop()
        node = node.reading(names)
        whole = _operand_itself(node, types)
        if whole is not None and (name not in kept or (whole in nodes and whole not in kept)):
            names[name] = whole
            continue
        does = repr(replace(node, name=""))
        same = known.get(does) if not any(word in node.op for word in _RANDOM) else None
        names[name] = same or name
        if same is None:
            known[does] = name
            found.append(node)
    results = [replace(one, name=names.get(one.name, one.name)) for one in graph.results]
    return replace(graph, nodes=found, results=results)


def _operand_itself(node: Node, types: dict[str, TensorType]) -> str | None:
    """The operand whose elements the node's are, where it has the same ones in the same places."""
    first = node.args[0] if node.args else None
    if node.op not in _SILENT or not isinstance(first, Ref):
        return None
    kind = types.get(node.name)
    return first.ref if kind is not None and types.get(first.ref) == kind else None
