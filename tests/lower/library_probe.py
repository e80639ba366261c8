# SPDX-License-Identifier: Apache-2.0
"""Runs device helpers on the twin: one kernel holds many calls, every block of a launch makes one.

A call names tensors `x`, `y`, `z` (inputs), `o`, `q` (outputs) and `work`, all of exactly the size
it asked for, and numbers `a[0]`, `a[1]`...; what it touches beyond them breaks a rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from npuforge.lower import library
from npuforge.twin.execute import execute
from npuforge.twin.kernel import Kernel, KernelBuild
from npuforge.twin.launch import Launch, tensor

Array = npt.NDArray[Any]
CPP = {
    "float32": "float",
    "float16": "half",
    "bfloat16": "bfloat16_t",
    "int64": "int64_t",
    "int32": "int32_t",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
}
_NUMBERS = 24

_KERNEL = """#include "kernel_operator.h"
using namespace AscendC;
@helpers@
extern "C" __global__ __aicore__ void probe(GM_ADDR data, GM_ADDR result, GM_ADDR numbers)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> bufs[6];
    LocalTensor<uint8_t> parts[6];
    __gm__ int32_t* p = (__gm__ int32_t*)numbers + GetBlockIdx() * 24;
    __gm__ int32_t* a = p + 12;
    for (int32_t i = 0; i < 6; ++i) {
        const int32_t bytes = i < 5 ? p[2 + 2 * i] : p[11];
        pipe.InitBuffer(bufs[i], bytes > 0 ? bytes : 32);
        parts[i] = bufs[i].Get<uint8_t>();
    }
    LocalTensor<uint8_t> x = parts[0], y = parts[1], z = parts[2], o = parts[3], q = parts[4];
    LocalTensor<uint8_t> work = parts[5];
    GlobalTensor<uint8_t> gm;
    gm.SetGlobalBuffer((__gm__ uint8_t*)data);
    for (int32_t i = 0; i < 3; ++i) {
        if (p[2 + 2 * i] > 0) {
            DataCopyPad(parts[i], gm[p[1 + 2 * i]], {1, (uint32_t)p[2 + 2 * i], 0, 0, 0},
                        {false, 0, 0, 0});
        }
    }
    if (p[23] != 0) {
        Duplicate(o.ReinterpretCast<uint16_t>(), (uint16_t)0, p[8] / 2);
    }
    PipeBarrier<PIPE_ALL>();
    switch (p[0]) {
@cases@
    }
    PipeBarrier<PIPE_ALL>();
    gm.SetGlobalBuffer((__gm__ uint8_t*)result);
    for (int32_t i = 3; i < 5; ++i) {
        if (p[2 + 2 * i] > 0) {
            DataCopyPad(gm[p[1 + 2 * i]], parts[i], {1, (uint32_t)p[2 + 2 * i], 0, 0, 0});
        }
    }
}
"""


@dataclass(frozen=True)
class Call:
    """One call: which case, tensors x y z, bytes of o and q, the numbers, bytes of work.

    `fill` writes o beforehand, for calls that leave parts of it alone.
    """

    case: str
    inputs: Sequence[Array]
    outputs: Sequence[int]
    numbers: Sequence[int] = ()
    work: int = 0
    fill: bool = False


@dataclass(frozen=True)
class Probe:
    """A kernel of `cases` (C++ statements by name) with the sources of `helpers`."""

    helpers: Sequence[str]
    cases: Mapping[str, str]
    _built: list[KernelBuild] = field(default_factory=list)

    def source(self) -> str:
        cases = "\n".join(
            f"    case {i}: {{ {body} break; }}" for i, body in enumerate(self.cases.values())
        )
        helpers = "\n".join(library.closure(self.helpers))
        return _KERNEL.replace("@helpers@", helpers).replace("@cases@", cases)

    def run(self, calls: Sequence[Call], mode: Any = "check") -> list[list[Array]]:
        """The bytes of o and q of every call; no rule may be broken and nothing may race."""
        if not self._built:
            build = Kernel.build(self.source())
            assert build.ok, build.log
            self._built.append(build)
        data: list[Array] = []
        rows: list[list[int]] = []
        at = [0, 0]
        order = list(self.cases)

        def place(side: int, size: int) -> list[int]:
            start = at[side]
            at[side] = -(-(start + size) // 512) * 512
            return [start, size]

        for call in calls:
            row = [order.index(call.case)]
            for i in range(3):
                raw = call.inputs[i] if i < len(call.inputs) else np.zeros(0, np.uint8)
                raw = np.ascontiguousarray(raw).view(np.uint8).reshape(-1)
                row += place(0, raw.size)
                data.append(np.concatenate([raw, np.zeros(-raw.size % 512, np.uint8)]))
            for i in range(2):
                row += place(1, call.outputs[i] if i < len(call.outputs) else 0)
            row += [call.work, *call.numbers]
            rows.append(row + [0] * (_NUMBERS - 1 - len(row)) + [int(call.fill)])
        blob = np.concatenate([*data, np.zeros(512, np.uint8)])
        result = execute(
            self._built[0],
            Launch(
                len(calls),
                [
                    tensor("data", blob),
                    tensor("result", np.zeros(at[1] + 512, np.uint8), role="inout"),
                    tensor("numbers", np.array(rows, np.int32)),
                ],
            ),
            mode=mode,
        )
        assert result.error is None, result.error
        assert not result.violations, result.violations[:3]
        assert not result.races, result.races[:3]
        out = np.asarray(result.outputs["result"]).reshape(-1)
        return [
            [out[row[i] : row[i] + row[i + 1]] for i in (7, 9) if row[i + 1] > 0] for row in rows
        ]


def padded(tile: Array, pitch: int) -> Array:
    """A tile in its memory layout; pad lanes hold a value that would spoil any reduction."""
    out = np.full((*tile.shape[:-1], pitch), 77, tile.dtype)
    out[..., : tile.shape[-1]] = tile
    return out


def pitch_of(cols: int, dtype: Any, extra_blocks: int = 0) -> int:
    block: int = 32 // np.dtype(dtype).itemsize
    return (-(-cols // block) + extra_blocks) * block
