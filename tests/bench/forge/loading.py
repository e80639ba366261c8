# SPDX-License-Identifier: Apache-2.0
"""A task's file as a module, and what its model makes of its own inputs. The files are ours."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from npuforge.bench.suites.forge import tasks
from npuforge.bench.task import Task

TASKS = tasks()
NAMES = [task.name for task in TASKS]


@dataclass(frozen=True)
class Ran:
    """Inputs as they were before the call, and results, for each list of inputs."""

    inputs: list[list[Tensor]]
    outputs: list[tuple[Tensor, ...]]


def load(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"forge_task_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def groups_of(module: Any) -> list[list[Tensor]]:
    """All lists of inputs; a task of one shape has one."""
    several: Callable[[], list[list[Tensor]]] | None = getattr(module, "get_input_groups", None)
    return several() if several is not None else [module.get_inputs()]


def run(task: Task, seed: int, *, first_only: bool = False) -> Ran:
    module = load(task.place)
    torch.manual_seed(seed)
    model = module.Model(*module.get_init_inputs())
    torch.manual_seed(seed + 1)
    inputs = [module.get_inputs()] if first_only else groups_of(module)
    kept = [[tensor.clone() for tensor in group] for group in inputs]
    outputs: list[tuple[Tensor, ...]] = []
    with torch.no_grad():
        for group in inputs:
            result = model(*group)
            found = result if isinstance(result, tuple) else (result,)
            outputs.append(tuple(tensor.clone() for tensor in found))
    return Ran(kept, outputs)
