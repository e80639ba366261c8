# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: inputs and reference outputs of a task in KernelBench's form.

The task file defines `Model`, `get_inputs` and `get_init_inputs`. Writes init.pt and per trial
inputs{i}.pt for the process of the candidate; per trial inputs{i}.tensors and outputs{i}.tensors
for the trusted side.
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


def loaded(name: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(job: dict[str, Any], scratch: Path) -> None:
    saved = loaded("tensor_writer", Path(__file__).with_name("tensor_writer.py")).saved
    task = loaded("task", Path(job["task"]))
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
            tensors = [item for item in inputs if isinstance(item, torch.Tensor)]
            (scratch / f"inputs{trial}.tensors").write_bytes(saved(tensors))
            result = model(*copied(inputs))
            outputs = list(result) if isinstance(result, (list, tuple)) else [result]
            (scratch / f"outputs{trial}.tensors").write_bytes(saved(outputs))
