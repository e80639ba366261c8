# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: inputs and reference outputs of a task in KernelBench's form.

The task file defines `Model`, `get_inputs` and `get_init_inputs`. Writes init.pt, and per trial
inputs{i}.pt and outputs{i}.pt.
"""

import importlib.util
from pathlib import Path
from typing import Any

import torch


def copied(value: Any) -> Any:
    """References may write into their inputs; the candidate gets them as they were."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    return type(value)(map(copied, value)) if isinstance(value, (list, tuple)) else value


def run(job: dict[str, Any], scratch: Path) -> None:
    spec = importlib.util.spec_from_file_location("task", job["task"])
    assert spec is not None
    assert spec.loader is not None
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    torch.manual_seed(job["seed"])
    initial = list(task.get_init_inputs())
    torch.save(initial, scratch / "init.pt")
    torch.manual_seed(job["seed"])
    model = task.Model(*initial)
    with torch.no_grad():
        for trial in range(job["trials"]):
            torch.manual_seed(job["seed"] + 1 + trial)
            inputs = list(task.get_inputs())
            torch.save(inputs, scratch / f"inputs{trial}.pt")
            result = model(*copied(inputs))
            outputs = list(result) if isinstance(result, (list, tuple)) else [result]
            torch.save([item.detach().clone() for item in outputs], scratch / f"outputs{trial}.pt")
