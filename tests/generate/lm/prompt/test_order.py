# SPDX-License-Identifier: Apache-2.0
"""Graphs in the order in which a kernel computes them."""

from __future__ import annotations

from dataclasses import replace

import torch

from npuforge.generate.live import LiveModule
from npuforge.generate.lm.prompt.canonical import canonical, prompt_text
from npuforge.generate.lm.prompt.order import ordered
from npuforge.spec.graph import Graph


def _graph() -> Graph:
    def gate(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        late = torch.exp(y)
        torch.tanh(y)  # nobody reads it
        return torch.where(x > 0, torch.exp(y), late * x)

    with LiveModule(gate, [torch.rand(9, 40), torch.rand(9, 40)], "gate") as module:
        return module.graph


def test_operands_come_right_before_what_reads_them_and_once() -> None:
    lines = prompt_text(canonical(_graph())[0]).splitlines()
    assert [line.partition(":")[0] for line in lines if line.startswith("v")] == [
        "v0 = gt.Scalar(xa, 0)",
        "v1 = exp(xb)",
        "v2 = mul.Tensor(v1, xa)",
        "v3 = where.self(v0, v1, v2)",
    ]
    assert lines[-1] == "return v3"


def test_what_is_drawn_twice_is_two_values() -> None:
    graph = _graph()
    drawn = [
        replace(node, op="aten.rand_like.default") if "exp" in node.op else node
        for node in graph.nodes
    ]
    found = ordered(replace(graph, nodes=drawn))
    assert sum("rand_like" in node.op for node in found.nodes) == 2


def test_what_changes_nothing_is_left_out_but_not_as_a_result() -> None:
    def shift(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x[:, :-1].clone() + x[:, 1:], x.clone()

    with LiveModule(shift, [torch.rand(9, 40)], "shift") as module:
        found = ordered(module.graph)
    ops = [node.op.removeprefix("aten.") for node in found.nodes]
    assert ops == ["slice.Tensor", "slice.Tensor", "add.Tensor", "clone.default"]
    ends = [node.args[2:] for node in found.nodes[:2]]
    assert ends == [[0, -1], [1, 9223372036854775807]]
