# SPDX-License-Identifier: Apache-2.0
"""Which operators count as the same work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from npuforge.generate.live import LiveModule
from npuforge.spec.graph import Graph, Node, Ref, Result, Source, TensorType
from npuforge.train.structure import lines, structure

_X = torch.randn(6, 40)
_Y = torch.randn(6, 40)


def _graph(function: Callable[..., Any], *inputs: torch.Tensor) -> Graph:
    with LiveModule(function, list(inputs), "op") as live:
        return live.graph


def _softened(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x * 0.5 + y, dim=-1)


def test_size_type_constant_and_order_do_not_count() -> None:
    def twin(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.softmax(y + x * 2.0, dim=1)

    known = structure(_graph(_softened, _X, _Y))
    assert structure(_graph(_softened, torch.randn(9, 8).half(), torch.randn(9, 8).half())) == known
    assert structure(_graph(twin, _X, _Y)) == known


def test_operations_axes_and_connections_count() -> None:
    def down(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x * 0.5 + y, dim=0)

    def other(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x * 0.5 - y, dim=-1)

    def squared(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x * 0.5 + x, dim=-1) + y

    graphs = [_graph(function, _X, _Y) for function in (_softened, down, other, squared)]
    assert len({structure(graph) for graph in graphs}) == 4


def test_dead_operations_do_not_count() -> None:
    def dead(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        torch.exp(x)
        return torch.softmax(x * 0.5 + y, dim=-1)

    assert lines(_graph(dead, _X, _Y)) == lines(_graph(_softened, _X, _Y))


def test_a_very_long_graph_has_a_structure() -> None:
    kind = TensorType((4,), "float32", ("4",))
    nodes = [
        Node(f"n{k}", "aten.exp.default", [Ref(f"n{k - 1}" if k else "x")], {}, [kind])
        for k in range(5000)
    ]
    graph = Graph("op", [Source("x", kind, "input", 0)], nodes, [Result("n4999")], [])
    assert len(lines(graph)) == 5001
