# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: a task of NPUKernelBench, with the suite's own inputs, reference and checker.

They are loaded from the user's checkout. What they import besides torch does not exist here: the
device's extension, the suite's framework (which needs the device), the compiled binding. Stand-ins
take their places; the framework's comparison follows the suite's protocol.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

import torch

from npuforge.twin.torchbind.worker import pretend_npu

# The suite's bounds: an element is wrong where it is off by more than both.
_MOST_ABSOLUTE = 1e-3
_MOST_RELATIVE = 1e-3
_GUARD = 1e-7


class Task:
    """The adapter's side of `npuforge.bench.tables`."""

    def __init__(self, validation: Path) -> None:
        self.module = _loaded("model_module", validation / "module.py")
        own = hasattr(self.module, "get_init_inputs")
        self.prepare = (
            self.module
            if own
            else _loaded("prepare_inputs_module", validation / "prepare_inputs.py")
        )
        self.prepare.torch = _Torch("torch")

    def init(self, row: dict[str, Any]) -> list[Any]:
        return list(self.prepare.get_init_inputs(row, device=torch.get_default_device()))

    def model(self, _row: dict[str, Any], init: list[Any]) -> Any:
        return self.module.Model(*init)

    def arguments(self, row: dict[str, Any]) -> list[Any]:
        return list(self.prepare.get_inputs(row, device=torch.get_default_device()))

    def check(
        self, row: dict[str, Any], _arguments: Any, wanted: Any, given: Any
    ) -> tuple[bool, str, dict[str, float | None]]:
        if hasattr(self.prepare, "custom_check_precision"):
            passed = self.prepare.custom_check_precision(row, wanted, given)[0]
            return bool(passed), "" if passed else "the task's own check fails", {}
        passed, message = precise(wanted, given, _MOST_ABSOLUTE, _MOST_RELATIVE)
        return passed, message, {}


def open_task(place: str) -> Task:
    pretend_npu()
    sys.modules.setdefault("kernel_gen_ops", types.ModuleType("kernel_gen_ops"))
    _pretend_framework()
    return Task(Path(place) / "validation")


def precise(
    wanted: Any, given: Any, most_absolute: float, most_relative: float
) -> tuple[bool, str]:
    """The suite's comparison: nothing off by more than both bounds, everything finite.

    It compares whatever PyTorch promotes to one type and broadcasts to one shape, and leaves
    results aside that have no counterpart. Our own check compares types and shapes too.
    """
    pairs = zip(_listed(wanted), _listed(given), strict=False)
    worst = 0.0
    for number, (want, got) in enumerate(pairs):
        if got.dtype == torch.bool:
            want, got = want.int(), got.int()
        apart = (want - got).abs()
        relative = apart / (want.abs() + _GUARD)
        if not all(bool(t.isfinite().all()) for t in (want, got, apart, relative)):
            return False, f"result {number} has values that are not finite"
        worst = max(worst, float(apart.max()) if apart.numel() else 0.0)
        if bool(((apart > most_absolute) & (relative > most_relative)).any()):
            return False, f"result {number} is off by {worst:.3g}"
    return True, ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _loaded(name: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"the task has no {path.name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _pretend_framework() -> None:
    """Checkers import the suite's comparison by its place in the framework."""
    framework, utils = types.ModuleType("framework"), types.ModuleType("framework.utils")

    def check_precision(
        outputs: Any, outputs_new: Any, max_abs_error: float, max_rel_error: float
    ) -> tuple[int, torch.Tensor, torch.Tensor]:
        passed, _ = precise(outputs, outputs_new, max_abs_error, max_rel_error)
        nothing = torch.zeros(1)
        return int(passed), nothing, nothing

    utils.check_precision = check_precision  # type: ignore[attr-defined]
    framework.utils = utils  # type: ignore[attr-defined]
    sys.modules |= {"framework": framework, "framework.utils": utils}


class _Torch(types.ModuleType):
    """torch for the suite's input makers: they call `rand` for integers, which a device takes and
    the CPU refuses; a whole value below 1 is 0."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def rand(self, *size: Any, **options: Any) -> torch.Tensor:
        dtype = options.get("dtype")
        if dtype is None or dtype.is_floating_point or dtype.is_complex:
            return torch.rand(*size, **options)
        return torch.zeros(*size, **options)
