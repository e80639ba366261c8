# SPDX-License-Identifier: Apache-2.0
"""A graph in simpler operations, for questions that are asked in parts.

What PyTorch does in one step may be several to a kernel: a part of a tensor written over is a join
of what is left of it and what is new, elements taken by a range are a slice, a softmax is a
maximum, an exponential, a sum and a quotient. Several tensors are joined two by two, what is
padded is a join, and what is folded over other axes than the last ones is turned first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from npuforge.generate.lm.parts.simpler_elements import (
    hypot,
    multiplied,
    norm_of_number,
    rest_of_erf,
    where,
)
from npuforge.generate.lm.parts.simpler_folds import (
    group_norm,
    item,
    softmax,
    turned_back_scan,
    turned_fold,
    turned_scan,
    var_mean,
)
from npuforge.generate.lm.parts.simpler_moves import (
    copy,
    join,
    median,
    slice_scatter,
    turned,
)
from npuforge.generate.lm.parts.simpler_takes import gather, index, index_put, index_select
from npuforge.generate.lm.parts.simpler_windows import padded, window_mean
from npuforge.generate.lm.question.kinds import ITEM
from npuforge.generate.lm.question.rewriting import Rewriting
from npuforge.spec.graph import Graph, Node, Ref

_SMALL_WHOLE = {"uint16": "int32"}  # types that kernels do not have, and those that hold the same


def simpler(graph: Graph) -> Graph:
    """The graph with each operation as the simpler ones that it comes to."""
    made = Rewriting({source.name: source.type for source in graph.sources}, _items(graph))
    for node in graph.nodes:
        _add(made, node.reading(made.names))
    back = {made.names[one.name]: one.name for one in graph.results if one.name in made.names}
    known = {node.name for node in made.nodes}
    kept = {result.name for result in graph.results}
    if not back.keys() <= known - kept:
        return graph  # what comes out must be computed, and once
    nodes = [replace(n, name=back.get(n.name, n.name)).reading(back) for n in made.nodes]
    return replace(graph, nodes=_read(nodes, kept))


def _items(graph: Graph) -> set[tuple[str, int]]:
    """What is read of operations that have several results."""
    return {
        (of.ref, place)
        for node in graph.nodes
        if node.op == ITEM
        for of, place in [node.args[:2]]
        if isinstance(of, Ref) and isinstance(place, int)
    }


def _add(made: Rewriting, node: Node) -> None:
    if node.types and node.types[0] is not None and node.types[0].dtype in _SMALL_WHOLE:
        node = _of_type(node, _SMALL_WHOLE[node.types[0].dtype])
    made.see_roll(node)
    rule = RULES.get(node.op)
    if rule is None or not rule(made, node):
        made.put(node)


def _read(nodes: list[Node], kept: set[str]) -> list[Node]:
    """Those that something follows from."""
    needed = set(kept)
    for node in reversed(nodes):
        needed |= set(node.reads()) if node.name in needed else set()
    return [node for node in nodes if node.name in needed]


def _of_type(node: Node, dtype: str) -> Node:
    named = {key: dtype if key == "dtype" else one for key, one in node.kwargs.items()}
    types = [replace(kind, dtype=dtype) if kind is not None else None for kind in node.types]
    return replace(node, kwargs=named, types=types)


RULES: Mapping[str, Callable[[Rewriting, Node], bool]] = {
    "aten.copy.default": copy,
    "aten.slice_scatter.default": slice_scatter,
    "aten.index_select.default": index_select,
    "aten.index.Tensor": index,
    "aten.index_put.default": index_put,
    "aten.mul.Tensor": multiplied,
    "aten.hypot.default": hypot,
    "aten.where.self": where,
    "aten.linalg_vector_norm.default": norm_of_number,
    "aten.native_group_norm.default": group_norm,
    "aten.logcumsumexp.default": turned_back_scan,
    "aten.gather.default": gather,
    "aten.erfc.default": rest_of_erf,
    "aten.permute.default": turned,
    "aten.constant_pad_nd.default": padded,
    "aten.avg_pool1d.default": window_mean,
    "aten.avg_pool2d.default": window_mean,
    "aten.avg_pool3d.default": window_mean,
    "aten.median.dim": median,
    "aten._softmax.default": softmax,
    "aten._log_softmax.default": softmax,
    "aten.cat.default": join,
    "aten.var_mean.correction": var_mean,
    "aten.var.correction": turned_fold,
    ITEM: item,
    "aten.sum.dim_IntList": turned_fold,
    "aten.mean.dim": turned_fold,
    "aten.amax.default": turned_fold,
    "aten.amin.default": turned_fold,
    "aten.cumsum.default": turned_scan,
    "aten.cumprod.default": turned_scan,
}
