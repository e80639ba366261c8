# SPDX-License-Identifier: Apache-2.0
"""Expected outputs from Python: a function of a file, or an expression, run in the sandbox.

The reference is as untrusted as the kernel. It runs in a process of its own (`reference_worker.py`)
that sees the inputs as `.npy` files and leaves its outputs as a list of tensors.
"""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from npuforge.dtypes import HostTensor, encode
from npuforge.errors import UsageError
from npuforge.printable import one_line
from npuforge.sandbox import GIB, Limits, Sandbox
from npuforge.sandbox.python import interpreter
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.sandbox.tensor_files import read_tensors
from npuforge.scratch import scratch_folder
from npuforge.twin.launch import TensorArgument

_WORKER = Path(__file__).with_name("reference_worker.py")
_WRITER = Path(__file__).parent / "torchbind" / "tensor_writer.py"
_OUTPUTS = "outputs.tensors"
_WIDEST, _ALIGNMENT, _HEADER = 16, 64, 1 << 20  # bytes: an element, between tensors, before them
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
    job = {"file": file.resolve().name, "function": function, "attrs": dict(attrs or {})}
    made = _work(job, inputs, outputs, sandbox, file)
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
    made = _work(job, inputs, outputs, sandbox)
    if len(made) != len(wanted):
        raise UsageError(f"the expressions give {len(made)} arrays for {len(wanted)} outputs")
    return {
        output.name: _fit(f"expected {output.name}", value, output)
        for output, value in zip(wanted, made, strict=True)
    }


def _work(
    job: Mapping[str, Any],
    inputs: Sequence[tuple[str, HostTensor]],
    outputs: Sequence[TensorArgument],
    sandbox: Sandbox | None,
    file: Path | None = None,
) -> list[HostTensor]:
    largest = sum(math.prod(output.shape) * _WIDEST + _ALIGNMENT for output in outputs)
    with scratch_folder("reference") as scratch, SharedFolder(scratch) as shared:
        for number, (_, tensor) in enumerate(inputs):
            shared.write(f"in{number}.npy", _npy(tensor.data))
        described = {
            **job,
            "folder": str(file.resolve().parent) if file else None,
            "writer": str(_WRITER),
            "inputs": [(name, tensor.dtype.name) for name, tensor in inputs],
        }
        shared.write("job.json", json.dumps(described).encode())
        done = (sandbox or Sandbox.detect()).run(
            [sys.executable, "-s", "-B", _WORKER],
            scratch=scratch,
            readable=[_WORKER, _WRITER, *interpreter()],
            opened=[file] if file else [],
            limits=_LIMITS,
            env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        if done.returncode != 0:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            said = one_line(lines[-1]) if lines else f"status {done.returncode}"
            raise UsageError(f"the reference failed: {done.killed_by or said}")
        try:
            made = read_tensors(shared, _OUTPUTS, largest + _HEADER)
        except HostileFileError as error:
            raise UsageError(f"the reference left no outputs: {error}") from None
        if None in made:
            raise UsageError("the reference left something else than an array")
        return [tensor for tensor in made if tensor is not None]


def _npy(array: np.ndarray[Any, Any]) -> memoryview:
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array), allow_pickle=False)
    return file.getbuffer()


def _fit(where: str, tensor: HostTensor, output: TensorArgument) -> HostTensor:
    if math.prod(tensor.shape) != math.prod(output.shape):
        got, need = list(tensor.shape), list(output.shape)
        raise UsageError(f"{where} gives shape {got}, output {output.name} has {need}")
    value = tensor.values()
    return encode(value.reshape(output.shape), output.dtype)
