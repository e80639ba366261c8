# SPDX-License-Identifier: Apache-2.0
"""A module's program as the planner writes it, and as the model is taught to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from npuforge.generate.live import LiveModule
from npuforge.generate.lm.form import plain
from npuforge.generate.lm.task import canonical, task_text
from npuforge.plan import planner

SOC = "910b2"


class Written(NamedTuple):
    asked: str
    planned: str
    taught: str


def written(module: Callable[..., Any], *inputs: torch.Tensor) -> Written:
    with LiveModule(module, list(inputs), "op") as live:
        graph, _ = canonical(live.graph)
    asked = task_text(graph)
    planned = planner.plan(graph, SOC).variants[0].program
    return Written(asked, planned, plain(planned, asked))
