# SPDX-License-Identifier: Apache-2.0
"""Blocks that wait for each other by reading memory over and over."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from npuforge.twin.execute import Mode, execute
from npuforge.twin.kernel import Kernel, KernelBuild
from npuforge.twin.launch import Launch, output, scalar, tensor

# Block 0 adds what the others wrote once each of them has put its mark behind its number. It is
# called like a function of the C library, as kernels are.
SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void select(GM_ADDR w, GM_ADDR y, int32_t byScalar) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> mine, all;
    const int32_t n = GetBlockNum(), me = GetBlockIdx();
    pipe.InitBuffer(mine, 32);
    pipe.InitBuffer(all, 32 * 64);
    GlobalTensor<int32_t> work, out;
    work.SetGlobalBuffer((__gm__ int32_t*)w, n * 8);
    out.SetGlobalBuffer((__gm__ int32_t*)y, 8);
    LocalTensor<int32_t> one = mine.Get<int32_t>(), many = all.Get<int32_t>();
    if (me > 0) {
        Duplicate(one, me * 7, 8);
        PipeBarrier<PIPE_ALL>();
        DataCopy(work[me * 8], one, 8);
        return;
    }
    int32_t seen = 0, sum = 0;
    while (seen < n - 1) {
        seen = sum = 0;
        DataCopy(many, work, n * 8);
        PipeBarrier<PIPE_ALL>();
        for (int32_t i = 1; i < n; ++i) {
            int32_t value = many.GetValue(i * 8);
            if (byScalar != 0) {
                DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE>(work[i * 8]);
                value = work.GetValue(i * 8);
            }
            seen += value == i * 7;
            sum += value;
        }
    }
    Duplicate(one, sum, 8);
    PipeBarrier<PIPE_ALL>();
    DataCopy(out, one, 8);
}
"""


@cache
def build() -> KernelBuild:
    made = Kernel.build(SOURCE)
    assert made.ok, made.log
    return made


def launch(by_scalar: int) -> Launch:
    return Launch(
        5,
        (
            tensor("w", np.zeros(40, np.int32), role="inout"),
            output("y", (8,), "int32"),
            scalar("by_scalar", by_scalar, "int32"),
        ),
    )


@pytest.mark.parametrize("by_scalar", [0, 1])
@pytest.mark.parametrize("mode", ["run", "check"])
def test_the_others_get_their_turn(mode: Mode, by_scalar: int) -> None:
    result = execute(build(), launch(by_scalar), mode=mode)
    assert result.error is None
    assert (result.outputs["y"] == 7 * (1 + 2 + 3 + 4)).all()


@pytest.mark.parametrize("by_scalar", [0, 1])
def test_polling_is_timed_with_data(by_scalar: int) -> None:
    result = execute(build(), launch(by_scalar), mode="time")
    assert result.error is None
    assert result.timing is not None
    assert result.timing_note == "timed with data: the kernel does not run without data"
