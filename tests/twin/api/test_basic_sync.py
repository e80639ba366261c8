# SPDX-License-Identifier: Apache-2.0
"""Cores that meet: values, order, and the rules of meeting."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from npuforge.twin.execute import RunResult, execute
from npuforge.twin.kernel import Kernel, KernelBuild
from npuforge.twin.launch import Launch, output, scalar, tensor

SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;

// Every core writes its number; after the meeting every core reads its neighbour's.
extern "C" __global__ __aicore__ void meet(GM_ADDR w, GM_ADDR y, int32_t how) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf, ub;
    pipe.InitBuffer(buf, 64);
    pipe.InitBuffer(ub, 64 * 32);
    GlobalTensor<int32_t> ws, out;
    const int32_t n = GetBlockNum(), me = GetBlockIdx();
    ws.SetGlobalBuffer((__gm__ int32_t*)w, n * 8 * 4);
    out.SetGlobalBuffer((__gm__ int32_t*)y, n * 16);
    GlobalTensor<int32_t> slots = ws[n * 8];
    LocalTensor<int32_t> t = buf.Get<int32_t>(), u = ub.Get<int32_t>();
    const int32_t turns = 2;
    if (how == 2) InitDetermineComputeWorkspace(slots, u);
    Duplicate(t, me + 1, 8);
    PipeBarrier<PIPE_ALL>();
    if (how != 2) {
        DataCopy(ws[me * 8], t, 8);
        PipeBarrier<PIPE_ALL>();
    }
    switch (how) {
    case 0: SyncAll(); break;
    case 1: SyncAll(slots, u); break;
    case 2: {
        // In turns, every core appends to a running total in GM.
        for (int32_t i = 0; i < turns; ++i) {
            WaitPreBlock(slots, u);
            DataCopy(t, ws, 8);
            PipeBarrier<PIPE_ALL>();
            Muls(t, t, 3, 8);
            Adds(t, t, me, 8);
            PipeBarrier<PIPE_ALL>();
            DataCopy(ws, t, 8);
            PipeBarrier<PIPE_ALL>();
            NotifyNextBlock(slots, u);
        }
        break;
    }
    case 3: {
        if (me > 0) IBWait(slots, u, me - 1, 0);
        if (me < n - 1) IBSet(slots, u, me, 0);
        break;
    }
    case 4: {
        CrossCoreSetFlag<0, PIPE_MTE3>(3);
        CrossCoreWaitFlag(3);
        break;
    }
    case 5: if (me == 0) SyncAll(); break;
    case 6: if (me == 0) CrossCoreSetFlag<0, PIPE_MTE3>(2); break;
    case 7: {
        for (int i = 0; i < 17 && me == 0; ++i) CrossCoreSetFlag<0, PIPE_MTE3>(1);
        break;
    }
    case 8: CrossCoreSetFlag<0, PIPE_MTE3>(20); break;
    case 9: SyncAll<false>(); break;
    case 10: CrossCoreWaitFlag(4); break;
    default: break;
    }
    const int32_t other = how == 3 ? (me > 0 ? me - 1 : 0) : how < 5 ? (me + 1) % n : me;
    DataCopy(t, ws[how == 2 ? 0 : other * 8], 8);
    PipeBarrier<PIPE_ALL>();
    DataCopy(out[me * 8], t, 8);
}
"""


@cache
def built() -> KernelBuild:
    build = Kernel.build(SOURCE)
    assert build.ok, build.log
    return build


def run(how: int, cores: int, *, mode: str = "check", dirty: int = 0) -> RunResult:
    w = np.zeros(cores * 8 * 4, np.int32)
    w[cores * 8 :] = dirty
    launch = Launch(
        cores,
        [
            tensor("w", w, role="inout"),
            output("y", (cores, 8), "int32"),
            scalar("how", how, "int32"),
        ],
    )
    return execute(built(), launch, mode=mode)  # type: ignore[arg-type]


def rules(result: RunResult) -> set[str]:
    return {violation.rule for violation in result.violations}


@pytest.mark.parametrize("how", [0, 1, 4])
@pytest.mark.parametrize("cores", [2, 7])
def test_after_a_meeting_everybody_sees_everything(how: int, cores: int) -> None:
    result = run(how, cores)
    assert result.error is None
    want = (np.arange(cores) + 1) % cores + 1
    np.testing.assert_array_equal(result.outputs["y"][:, 0], want)
    assert rules(result) == set()
    assert result.races == []


def test_tokens_form_a_chain() -> None:
    result = run(3, 5)
    assert result.error is None
    np.testing.assert_array_equal(result.outputs["y"][:, 0], [1, 1, 2, 3, 4])
    assert rules(result) == set()


def test_cores_take_turns() -> None:
    result = run(2, 4)
    assert result.error is None
    total = 0
    seen = []
    for _ in range(2):
        for core in range(4):
            total = total * 3 + core
            seen.append(total)
    assert result.outputs["y"][3, 0] == seen[-1]
    assert "XCR-12" not in rules(result)


@pytest.mark.parametrize("how", [0, 1, 2, 3, 4])
def test_meetings_have_a_time(how: int) -> None:
    result = run(how, 4, mode="time")
    assert result.error is None
    assert result.timing is not None


def test_software_meeting_needs_zeroed_memory() -> None:
    assert "XCR-09" in rules(run(1, 2, dirty=5))


@pytest.mark.parametrize(
    ("how", "rule"), [(6, "XCR-04"), (7, "XCR-03"), (8, "XCR-02"), (9, "XCR-10")]
)
def test_rules_of_flags(how: int, rule: str) -> None:
    assert rule in rules(run(how, 2))


@pytest.mark.parametrize("how", [5, 10])
def test_a_core_that_waits_for_ever(how: int) -> None:
    result = run(how, 2)
    assert result.error is not None
    assert "deadlock" in result.error


def test_more_blocks_than_cores_cannot_meet() -> None:
    result = run(0, 60)
    assert "XCR-08" in rules(result)
