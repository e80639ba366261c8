# SPDX-License-Identifier: Apache-2.0
"""Runs one API of the basic vector side at a time: a kernel that copies in, calls it, copies out.

The kernel takes x (input), z (second input), y (in and out, so that what an API leaves alone shows)
and p, numbers that choose the API and its arguments. One build serves every parameter combination.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from npuforge.twin.execute import RunResult, execute
from npuforge.twin.kernel import Kernel, KernelBuild
from npuforge.twin.launch import Launch, tensor

Array = npt.NDArray[Any]

HEAD = """
#include "kernel_operator.h"
using namespace AscendC;

template <typename T> struct Probe {
    TPipe pipe;
    TBuf<TPosition::VECCALC> xBuf, zBuf, yBuf, tBuf;
    GlobalTensor<T> xGm, yGm;
    GlobalTensor<uint32_t> zGm;
    LocalTensor<T> x, y, t;
    LocalTensor<uint32_t> z;
    __gm__ int32_t* p;
    uint64_t bits[2];

    __aicore__ inline void Open(GM_ADDR xAddr, GM_ADDR zAddr, GM_ADDR yAddr, GM_ADDR pAddr) {
        p = (__gm__ int32_t*)pAddr;
        xGm.SetGlobalBuffer((__gm__ T*)xAddr);
        zGm.SetGlobalBuffer((__gm__ uint32_t*)zAddr);
        yGm.SetGlobalBuffer((__gm__ T*)yAddr);
        pipe.InitBuffer(xBuf, 64 * 1024);
        pipe.InitBuffer(zBuf, 32 * 1024);
        pipe.InitBuffer(yBuf, 48 * 1024);
        pipe.InitBuffer(tBuf, 32 * 1024);
        x = xBuf.Get<T>();
        z = zBuf.Get<uint32_t>();
        y = yBuf.Get<T>();
        t = tBuf.Get<T>();
        bits[0] = ((uint64_t)(uint32_t)p[17] << 32) | (uint32_t)p[16];
        bits[1] = ((uint64_t)(uint32_t)p[19] << 32) | (uint32_t)p[18];
        DataCopyPadExtParams<T> none;
        DataCopyPadExtParams<uint32_t> noneZ;
        if (p[1] > 0) DataCopyPad(x, xGm, {1, (uint32_t)p[1], 0, 0, 0}, none);
        if (p[2] > 0) DataCopyPad(z, zGm, {1, (uint32_t)p[2], 0, 0, 0}, noneZ);
        if (p[3] > 0) DataCopyPad(y, yGm, {1, (uint32_t)p[3], 0, 0, 0}, none);
        PipeBarrier<PIPE_ALL>();
    }
    static __aicore__ inline DataCopyExtParams Rows(const int32_t* a) {
        return {(uint16_t)a[0], (uint32_t)a[1], (uint32_t)a[2], (uint32_t)a[3], 0};
    }
    __aicore__ inline void Close() {
        PipeBarrier<PIPE_ALL>();
        if (p[3] > 0) DataCopyPad(yGm, y, {1, (uint32_t)p[3], 0, 0, 0});
    }
    __aicore__ inline void Run() {
        const int32_t *a = p + 4;
        switch (p[0]) {
"""

TAIL = """
        default: break;
        }
    }
};
extern "C" __global__ __aicore__ void probe(GM_ADDR x, GM_ADDR z, GM_ADDR y, GM_ADDR p) {
    Probe<PROBE_TYPE> probe;
    probe.Open(x, z, y, p);
    probe.Run();
    probe.Close();
}
"""

_CPP = {
    "float32": "float",
    "float16": "half",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "uint8": "uint8_t",
}


@cache
def _built(cases: str, dtype: str) -> KernelBuild:
    build = Kernel.build(HEAD + cases + TAIL, defines={"PROBE_TYPE": _CPP[dtype]})
    assert build.ok, build.log
    return build


def call(
    cases: str,
    op: int,
    x: Array,
    y: Array,
    *,
    z: Array | None = None,
    arguments: Sequence[int] = (),
    bits: int = 0,
    mode: str = "check",
) -> tuple[Array, RunResult]:
    """`cases` are C++ `case` labels; `arguments` are the numbers `a[0]`, `a[1]`... they see."""
    offsets = np.zeros(8, np.uint32) if z is None else z
    used = 0 if z is None else z.nbytes
    numbers = [op, x.nbytes, used, y.nbytes, *arguments]
    numbers += [0] * (16 - len(numbers))
    words = np.array([bits >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)], np.uint32)
    p = np.concatenate([np.array(numbers, np.int32), words.view(np.int32)])
    launch = Launch(
        1,
        [
            tensor("x", x),
            tensor("z", offsets),
            tensor("y", y, role="inout"),
            tensor("p", p),
        ],
    )
    result = execute(_built(cases, str(x.dtype)), launch, mode=mode)  # type: ignore[arg-type]
    assert result.error is None, result.error
    return np.asarray(result.outputs["y"]).reshape(y.shape), result


def rules(result: RunResult) -> set[str]:
    """The rules a run broke."""
    return {violation.rule for violation in result.violations}
