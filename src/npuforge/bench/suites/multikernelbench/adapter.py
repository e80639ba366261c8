# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: a task of MultiKernelBench whose cases lie in a JSON file beside it.

The task's `get_input_groups` makes the inputs of all cases, one after another. It is run for one
case at a time, with a file of that line alone, and with the random numbers that the case would get
in the suite: those that follow on the model's and on the earlier cases'.
"""

from __future__ import annotations

import importlib.util
import io
import sys
from pathlib import Path
from typing import Any

import torch

from npuforge.twin.torchbind.worker import pretend_npu


class Task:
    """The adapter's side of `npuforge.bench.tables`."""

    def __init__(self, file: Path) -> None:
        self.data = file.with_suffix(".json")
        self.module = _loaded(file)
        self.module.open = self._open
        self.lines = [line for line in self.data.read_text("utf-8").splitlines() if line.strip()]
        self.line = ""
        self.states: list[torch.Tensor] = []  # of the random numbers at the start of each case

    def init(self, _row: dict[str, Any]) -> list[Any]:
        return list(self.module.get_init_inputs())

    def model(self, row: dict[str, Any], init: list[Any]) -> Any:
        torch.manual_seed(row["seed"])
        return self.module.Model(*init)

    def arguments(self, row: dict[str, Any]) -> list[Any]:
        """As the suite draws them."""
        if torch.get_default_device().type != "meta":
            torch.set_rng_state(self._state(row))
        return self.drawn(row)

    def drawn(self, row: dict[str, Any]) -> list[Any]:
        """By whatever random numbers come next."""
        return self._group(row["line"])

    def check(
        self, row: dict[str, Any], _arguments: Any, wanted: Any, given: Any
    ) -> tuple[bool, str, dict[str, float | None]]:
        told = _difference(wanted, given, row["rtol"], row["atol"])
        return told is None, told or "", {}

    def _state(self, row: dict[str, Any]) -> torch.Tensor:
        with torch.device("cpu"):
            if not self.states:
                self.model(row, self.init(row))
                self.states.append(torch.get_rng_state())
            torch.set_rng_state(self.states[-1])
            while len(self.states) <= row["group"]:
                self._group(self.lines[len(self.states) - 1])
                self.states.append(torch.get_rng_state())
        state: torch.Tensor = self.states[row["group"]]
        return state

    def _group(self, line: str) -> list[Any]:
        self.line = line
        (group,) = self.module.get_input_groups()
        return list(group)

    def _open(self, path: Any, *arguments: Any, **options: Any) -> Any:
        if Path(path).name == self.data.name:
            return io.StringIO(self.line + "\n")
        return open(path, *arguments, **options)


def open_task(place: str) -> Task:
    pretend_npu()
    return Task(Path(place))


def _difference(wanted: Any, given: Any, rtol: float, atol: float) -> str | None:
    """The suite's comparison: the same shape and nesting, near in every element, truths equal."""
    if isinstance(wanted, torch.Tensor) and isinstance(given, torch.Tensor):
        if wanted.shape != given.shape:
            return f"shape {list(given.shape)} instead of {list(wanted.shape)}"
        if torch.bool in (wanted.dtype, given.dtype):
            near = torch.equal(wanted, given)
        else:
            near = torch.allclose(wanted, given, rtol=rtol, atol=atol)
        return None if near else "the result differs"
    if isinstance(wanted, list | tuple) and isinstance(given, list | tuple):
        if len(wanted) != len(given):
            return f"{len(given)} results instead of {len(wanted)}"
        for place, (want, got) in enumerate(zip(wanted, given, strict=True)):
            told = _difference(want, got, rtol, atol)
            if told is not None:
                return f"result {place}: {told}"
        return None
    return None if wanted == given else f"{given!r} instead of {wanted!r}"


def _loaded(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location("task", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["task"] = module
    spec.loader.exec_module(module)
    return module
