# SPDX-License-Identifier: Apache-2.0
"""Expected outputs from Python: a function of a file, or an expression, run in the sandbox.

The reference is as untrusted as the kernel. It runs in a process of its own (`reference_worker.py`)
that sees the inputs as `.npy` files and leaves its outputs the same way.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from npuforge.dtypes import HostTensor, encode
from npuforge.errors import UsageError
from npuforge.sandbox import GIB, Limits, Sandbox
from npuforge.sandbox.python import interpreter
from npuforge.scratch import scratch_folder
from npuforge.twin import session_result
from npuforge.twin.launch import TensorArgument

_WORKER = Path(__file__).with_name("reference_worker.py")
_LIMITS = Limits(cpu_s=300, wall_s=300, memory_bytes=8 * GIB)


def by_function(
    file: Path,
    function: str,
    inputs: Sequence[tuple[str, HostTensor]],
    outputs: Sequence[TensorArgument],
    *,
    attrs: Mapping[str, Any] | None = None,
    sandbox: Sandbox | None = None,
) -> dict[str, HostTensor]:
    """What `function` of `file` returns for the inputs: one array per output, in order."""
    job = {"file": file.name, "function": function, "attrs": dict(attrs or {})}
    made = _work(job, inputs, sandbox, folder=file.parent)
    if len(made) != len(outputs):
        raise UsageError(
            f"{file.name}::{function} returns {len(made)} arrays for {len(outputs)} outputs"
        )
    return {
        output.name: _fit(f"{file.name}::{function}", value, output)
        for output, value in zip(outputs, made, strict=True)
    }


def by_expression(
    expressions: Mapping[str, str],
    inputs: Sequence[tuple[str, HostTensor]],
    outputs: Sequence[TensorArgument],
    *,
    sandbox: Sandbox | None = None,
) -> dict[str, HostTensor]:
    """The values of NumPy expressions over the inputs' names (`np` is NumPy)."""
    wanted = [output for output in outputs if output.name in expressions]
    job = {"expressions": [expressions[output.name] for output in wanted]}
    made = _work(job, inputs, sandbox)
    return {
        output.name: _fit(f"expected {output.name}", value, output)
        for output, value in zip(wanted, made, strict=True)
    }


def _work(
    job: Mapping[str, Any],
    inputs: Sequence[tuple[str, HostTensor]],
    sandbox: Sandbox | None,
    folder: Path | None = None,
) -> list[np.ndarray[Any, Any]]:
    with scratch_folder("reference") as scratch:
        for number, (_, tensor) in enumerate(inputs):
            np.save(scratch / f"in{number}.npy", np.ascontiguousarray(tensor.data))
        described = {
            **job,
            "folder": str(folder) if folder else None,
            "inputs": [(name, tensor.dtype.name) for name, tensor in inputs],
        }
        (scratch / "job.json").write_text(json.dumps(described), "utf-8")
        done = (sandbox or Sandbox.detect()).run(
            [sys.executable, "-s", "-B", _WORKER],
            scratch=scratch,
            readable=[_WORKER, *interpreter(), *([folder] if folder else [])],
            limits=_LIMITS,
            env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        if done.returncode != 0:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            reason = done.killed_by or (lines[-1] if lines else f"status {done.returncode}")
            raise UsageError(f"the reference failed: {reason}")
        made: list[np.ndarray[Any, Any]] = []
        while (
            octets := session_result.read_back(scratch / f"out{len(made)}.npy", 1 << 40)
        ) is not None:
            made.append(_parse_npy(octets))
        return made


def _parse_npy(octets: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    with tempfile.TemporaryFile() as file:
        octets.tofile(file)
        file.seek(0)
        try:
            array: np.ndarray[Any, Any] = np.load(file, allow_pickle=False)
        except ValueError:
            raise UsageError("the reference left something that is no array") from None
    return array


def _fit(where: str, value: np.ndarray[Any, Any], output: TensorArgument) -> HostTensor:
    if value.size != int(np.prod(output.shape)):
        got, need = list(value.shape), list(output.shape)
        raise UsageError(f"{where} gives shape {got}, output {output.name} has {need}")
    return encode(value.reshape(output.shape), output.dtype)
