# SPDX-License-Identifier: Apache-2.0
"""Kernels around one call of the high-level API, for differential tests.

The generated kernel brings every input to UB, runs the call and takes every output back. Sizes and
numbers are arguments of the kernel, so one build serves all shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from npuforge.twin.execute import RunResult, execute
from npuforge.twin.kernel import Kernel
from npuforge.twin.launch import Launch, output, scalar, tensor

CPP = {
    "float32": "float",
    "float16": "half",
    "bfloat16": "bfloat16_t",
    "int32": "int32_t",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint64": "uint64_t",
}
FLOATS = ("float32", "float16")
TOLERANCE = {"float32": 2e-5, "float16": 3e-3}


@dataclass(frozen=True)
class LibraryKernel:
    """`body` sees the tensors by name, `tmp` (uint8_t), `T`, and every name of `numbers`.

    `inputs` and `outputs` give element types; numbers are `uint32_t` or, with a leading `f_`,
    `float`.
    """

    body: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    numbers: Sequence[str] = ()
    head: str = ""
    tmp_bytes: int = 32768

    def source(self) -> str:
        names = {**self.inputs, **self.outputs}
        arguments = [f"GM_ADDR {name}_gm" for name in names]
        arguments += [f"uint32_t {name}_size" for name in names]
        arguments += [
            f"{'float' if name.startswith('f_') else 'uint32_t'} {name}" for name in self.numbers
        ]
        lines = ['#include "kernel_operator.h"', "using namespace AscendC;", self.head]
        lines.append(f'extern "C" __global__ __aicore__ void call({", ".join(arguments)}) {{')
        lines.append("TPipe pipe;")
        for name, dtype in names.items():
            element = CPP[dtype]
            lines += [
                f"TBuf<TPosition::VECCALC> {name}_buffer;",
                f"pipe.InitBuffer({name}_buffer, {name}_size * sizeof({element}));",
                f"LocalTensor<{element}> {name} = {name}_buffer.Get<{element}>();",
                f"GlobalTensor<{element}> {name}_global;",
                f"{name}_global.SetGlobalBuffer((__gm__ {element}*){name}_gm, {name}_size);",
            ]
        lines += [
            "TBuf<TPosition::VECCALC> tmp_buffer;",
            f"pipe.InitBuffer(tmp_buffer, {self.tmp_bytes});",
            "LocalTensor<uint8_t> tmp = tmp_buffer.Get<uint8_t>();",
        ]
        lines += [f"DataCopy({name}, {name}_global, {name}_size);" for name in self.inputs]
        lines += ["PipeBarrier<PIPE_ALL>();", self.body, "PipeBarrier<PIPE_ALL>();"]
        lines += [f"DataCopy({name}_global, {name}, {name}_size);" for name in self.outputs]
        lines.append("}")
        return "\n".join(lines)

    def run(
        self,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, int],
        numbers: Mapping[str, float] | None = None,
        mode: Any = "check",
    ) -> RunResult:
        """One launch; every tensor's size must be a multiple of 32 bytes."""
        build = Kernel.build(self.source())
        assert build.ok, build.log
        values = numbers or {}
        tensors = [
            *(tensor(f"{n}_gm", inputs[n], dtype=t) for n, t in self.inputs.items()),
            *(output(f"{n}_gm", (outputs[n],), t) for n, t in self.outputs.items()),
        ]
        sizes = [np.size(inputs[n]) for n in self.inputs] + [outputs[n] for n in self.outputs]
        names = [*self.inputs, *self.outputs]
        scalars = [scalar(f"{n}_size", s, "uint32") for n, s in zip(names, sizes, strict=True)]
        scalars += [
            scalar(n, values[n], "float32" if n.startswith("f_") else "uint32")
            for n in self.numbers
        ]
        result = execute(build, Launch(1, [*tensors, *scalars]), mode=mode)
        assert result.error is None, result.error
        return result


def values_of(result: RunResult, name: str) -> np.ndarray[Any, Any]:
    """One output as an array NumPy can compute with."""
    array = result.torch(f"{name}_gm")
    return np.asarray(array.float().numpy() if array.is_floating_point() else array.numpy())


def rules_of(result: RunResult) -> set[str]:
    return {violation.rule for violation in result.violations}
