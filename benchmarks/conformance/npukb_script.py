# SPDX-License-Identifier: Apache-2.0
"""What one task of NPUKernelBench does inside the sandbox: every case through its own check.

Inputs, reference and checker are the suite's own files, loaded from the user's checkout.
"""

import importlib.util
import json
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import torch


def load(name: str, path: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def clone(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, (list, tuple)):
        return type(value)(clone(item) for item in value)
    return value


def pretend_framework() -> None:
    """Checkers import the suite's comparison; the rest of its framework needs a device."""
    framework, utils = types.ModuleType("framework"), types.ModuleType("framework.utils")

    def check_precision(
        reference: Any, candidate: Any, max_abs_error: float, max_rel_error: float
    ) -> tuple[int, torch.Tensor, torch.Tensor]:
        passed, _ = default_check(reference, candidate, max_abs_error, max_rel_error)
        nothing = torch.zeros(1)
        return int(passed), nothing, nothing

    utils.check_precision = check_precision  # type: ignore[attr-defined]
    framework.utils = utils  # type: ignore[attr-defined]
    sys.modules |= {"framework": framework, "framework.utils": utils}


def pretend_device_random() -> None:
    """Input makers call torch.rand for integers, which the CPU refuses; a value below 1 is 0."""
    real = torch.rand

    def rand(*size: Any, **options: Any) -> torch.Tensor:
        dtype = options.get("dtype")
        if dtype is None or dtype.is_floating_point or dtype.is_complex:
            return real(*size, **options)
        return torch.zeros(*size, **options)

    torch.rand = rand


def pretend_library(calls: dict[str, Any]) -> None:
    """Functions of the operator library that hand their arguments on to the task's operator."""
    bridge = sys.modules["npuforge_bridge"]
    real = bridge.exec_npu_cmd

    def exec_npu_cmd(name: str, arguments: list[Any]) -> None:
        call = calls.get(name.removeprefix("aclnn"))
        if call is not None:
            for place, names in call.get("names", {}).items():
                arguments[int(place)] = names[arguments[int(place)]]
            name, arguments = f"aclnn{call['operator']}", [arguments[i] for i in call["order"]]
        real(name, arguments)

    bridge.exec_npu_cmd = exec_npu_cmd  # type: ignore[attr-defined]


def default_check(
    reference: Any, candidate: Any, max_abs: float = 1e-3, max_rel: float = 1e-3
) -> tuple[bool, str]:
    """Fails where an element is off by more than both bounds."""
    wanted = list(reference) if isinstance(reference, (list, tuple)) else [reference]
    given = list(candidate) if isinstance(candidate, (list, tuple)) else [candidate]
    worst = 0.0
    for want, got in zip(wanted, given, strict=False):
        if got.dtype == torch.bool:
            want, got = want.int(), got.int()
        difference = (want - got).abs()
        relative = difference / (want.abs() + 1e-7)
        parts = (want, got, difference, relative)
        if not all(bool(torch.isfinite(part).all()) for part in parts):
            return False, "non-finite values"
        if difference.numel():
            worst = max(worst, float(difference.max()))
        if bool(((difference > max_abs) & (relative > max_rel)).any()):
            return False, f"largest difference {worst:.3g}"
    return True, f"largest difference {worst:.3g}"


def run_case(module: Any, prepare: Any, row: dict[str, Any]) -> tuple[bool, str]:
    torch.manual_seed(int(row.get("case_id", 0)))
    initial = prepare.get_init_inputs(row, device="cpu")
    inputs = prepare.get_inputs(row, device="cpu")
    reference = module.Model(*initial)(*clone(inputs))
    candidate = module.ModelNew(*initial)(*clone(inputs))
    if hasattr(prepare, "custom_check_precision"):
        passed = prepare.custom_check_precision(row, reference, candidate)[0]
        return bool(passed), "the task's own check"
    return default_check(reference, candidate)


def run(job: dict[str, Any], scratch: Path) -> None:
    pretend_framework()
    pretend_device_random()
    pretend_library(job["calls"])
    module = load("model_module", job["module"])
    has_inputs = hasattr(module, "get_init_inputs")
    prepare = module if has_inputs else load("prepare_inputs_module", job["prepare"])
    with (scratch / "cases.jsonl").open("w") as out:
        for row in job["rows"]:
            try:
                passed, detail = run_case(module, prepare, row)
            except Exception as problem:  # one case's failure is that case's result
                passed, detail = False, f"{type(problem).__name__}: {problem}"
                traceback.print_exc(limit=-3)
            out.write(json.dumps({"case": row["case_id"], "passed": passed, "detail": detail}))
            out.write("\n")
            out.flush()
