# SPDX-License-Identifier: Apache-2.0
"""A module's canonical graph, its prompt, and the program that the planner writes for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from npuforge.generate.live import LiveModule
from npuforge.generate.lm.answer import without_header
from npuforge.generate.lm.prompt.canonical import canonical, prompt_text
from npuforge.plan import planner
from npuforge.spec.graph import Graph

SOC = "910b2"


class Norm(torch.nn.Module):
    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x) * w + x
        return y / torch.sqrt((y * y).mean(-1, keepdim=True) + 1e-5)


class _OfOne(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


class _OfTwo(_OfOne):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return self.function(x, y)


def applied(function: Callable[..., torch.Tensor], inputs: int) -> torch.nn.Module:
    """Return a module that applies a function of one or two tensors."""
    return (_OfOne, _OfTwo)[inputs - 1](function)


class Written(NamedTuple):
    graph: Graph
    prompt: str
    program: str  # as completions have it

    @property
    def completion(self) -> str:
        return f"<think>\na thought\n</think>\n{self.program}"


def written(module: Callable[..., Any], *inputs: torch.Tensor) -> Written:
    with LiveModule(module, list(inputs), "op") as live:
        graph, _ = canonical(live.graph)
    return Written(graph, prompt_text(graph), program_for(graph))


def program_for(graph: Graph) -> str:
    """Return the planner's program for a canonical graph, as completions have it."""
    return without_header(planner.plan(graph, SOC, most=1).variants[0].program)
