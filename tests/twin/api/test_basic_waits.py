# SPDX-License-Identifier: Apache-2.0
"""What waits for what: flag words in GM, group barriers, turns, pipes and pools given back."""

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

// A pool of the kernel's own that leaves a gap between its buffers.
class GapPool {
public:
    GapPool() { Init(); }
    template <class T> bool InitBuffer(T& que, uint8_t num, uint32_t len) {
        que.InitStartBufHandle(GetBufHandle(GetCurBufSize()), num, len);
        for (uint32_t i = 0; i < num; ++i)
            que.InitBufHandle(this, i, GetBufHandle(i), GetCurAddr() + 2 * i * len, len);
        SetCurAddr(GetCurAddr() + 2 * num * len);
        SetCurBufSize(GetCurBufSize() + num);
        return true;
    }
    EXTERN_IMPL_BUFPOOL(GapPool, TPosition::VECCALC, 16);
};

__aicore__ inline void Round(TQue<TPosition::VECIN, 1>& in, TQue<TPosition::VECOUT, 1>& out,
                             GlobalTensor<int32_t> x, GlobalTensor<int32_t> y) {
    LocalTensor<int32_t> a = in.AllocTensor<int32_t>();
    DataCopy(a, x, 64);
    in.EnQue(a);
    a = in.DeQue<int32_t>();
    LocalTensor<int32_t> b = out.AllocTensor<int32_t>();
    Adds(b, a, 1, 64);
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<int32_t>();
    DataCopy(y, b, 64);
    out.FreeTensor(b);
}

__aicore__ inline void Clean(const GlobalTensor<int32_t>& word) {
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(word);
}

extern "C" __global__ __aicore__ void waits(GM_ADDR xAddr, GM_ADDR wAddr, GM_ADDR yAddr,
                                            int32_t how) {
    const int32_t n = GetBlockNum(), me = GetBlockIdx();
    GlobalTensor<int32_t> x, w, y;
    x.SetGlobalBuffer((__gm__ int32_t*)xAddr, 64);
    w.SetGlobalBuffer((__gm__ int32_t*)wAddr, 1024);
    y.SetGlobalBuffer((__gm__ int32_t*)yAddr, 64 * 8);
    if (how == 0 || how == 1 || how == 2) {
        // Core 0 waits for a word of every other core, then reads what they wrote.
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 256);
        LocalTensor<int32_t> t = buffer.Get<int32_t>();
        if (me == 0) {
            for (int32_t i = 1; i < n; ++i) {
                int32_t seen = 0;
                while (seen != i) {
                    if (how == 1) seen = ReadGmByPassDCache((__gm__ int32_t*)wAddr + i * 16);
                    if (how == 1) continue;
                    Clean(w[i * 16]);
                    seen = w.GetValue(i * 16);
                }
            }
            DataCopy(t, y[64], 64);
            PipeBarrier<PIPE_ALL>();
            DataCopy(y, t, 64);
            return;
        }
        Duplicate(t, me, 64);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(y[me * 64], t, 64);
        if (how != 2) {
            SetFlag<HardEvent::MTE3_S>(EVENT_ID0);
            WaitFlag<HardEvent::MTE3_S>(EVENT_ID0);
        }
        if (how == 1) return WriteGmByPassDCache((__gm__ int32_t*)wAddr + me * 16, me);
        w.SetValue(me * 16, me);
        Clean(w[me * 16]);
    } else if (how == 3) {
        // Two cores write, two wait, twice over.
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 256);
        LocalTensor<int32_t> t = buffer.Get<int32_t>();
        GroupBarrier<PipeMode::MTE3_MODE> barrier(wAddr, 2, 2);
        for (int32_t round = 0; round < 2; ++round) {
            if (me < 2) {
                barrier.Arrive(me);
                continue;
            }
            barrier.Wait(me - 2);
        }
        Duplicate(t, (int32_t)barrier.GetWorkspaceLen(), 64);
        PipeBarrier<PIPE_ALL>();
        DataCopy(y[me * 64], t, 64);
    } else if (how == 4) {
        // What was moved in is ordered before the turn ends.
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer, work;
        pipe.InitBuffer(buffer, 256);
        pipe.InitBuffer(work, 1024);
        LocalTensor<int32_t> t = buffer.Get<int32_t>(), u = work.Get<int32_t>();
        InitDetermineComputeWorkspace(w, u);
        DataCopy(t, x, 64);
        WaitPreBlock(w, u);
        DataCopy(y[me * 64], t, 64);
        NotifyNextBlock(w, u);
    } else if (how == 5 || how == 6) {
        // A second pipe uses the memory of the first, the other way round.
        for (int32_t i = 0; i < 2; ++i) {
            TPipe pipe;
            TQue<TPosition::VECIN, 1> in;
            TQue<TPosition::VECOUT, 1> out;
            if (i == 0) pipe.InitBuffer(in, 1, 256);
            pipe.InitBuffer(out, 1, 256);
            if (i == 1) pipe.InitBuffer(in, 1, 256);
            Round(in, out, x, y[i * 64]);
            if (how == 5) pipe.Destroy();
            else pipe.DestroyWithoutPipeAll();
        }
    } else if (how == 7 || how == 8) {
        TPipe pipe;
        TQue<TPosition::VECIN, 1> in;
        TQue<TPosition::VECOUT, 1> out;
        TBufPool<TPosition::VECCALC> pool;
        GapPool gaps;
        if (how == 7) pipe.InitBufPool(pool, 1024);
        else pipe.InitBufPool(gaps, 1024);
        for (int32_t i = 0; i < 2; ++i) {
            if (how == 7) {
                pool.InitBuffer(in, 1, 256);
                pool.InitBuffer(out, 1, 256);
            } else {
                gaps.InitBuffer(in, 1, 256);
                gaps.InitBuffer(out, 1, 256);
            }
            Round(in, out, x, y[i * 64]);
            if (how == 7) pool.Reset();
            else gaps.Reset();
        }
    }
}
"""


@cache
def built() -> KernelBuild:
    build = Kernel.build(SOURCE)
    assert build.ok, build.log
    return build


def run(how: int, cores: int) -> RunResult:
    result = execute(
        built(),
        Launch(
            cores,
            [
                tensor("x", np.arange(64, dtype=np.int32)),
                tensor("w", np.zeros(1024, np.int32)),
                output("y", (512,), "int32"),
                scalar("how", how, "int32"),
            ],
        ),
        mode="check",
    )
    assert result.error is None, result.error
    return result


@pytest.mark.parametrize("how", [0, 1])
def test_a_flag_word_in_gm_orders_what_came_before_it(how: int) -> None:
    result = run(how, 4)
    assert result.races == []
    y = result.outputs["y"].reshape(8, 64)
    assert (y[0] == 1).all()
    assert (y[1:4] == np.arange(1, 4)[:, None]).all()


def test_a_flag_word_written_too_early_orders_nothing() -> None:
    races = run(2, 4).races
    assert [race.rule for race in races] == ["SYNC-22"]


def test_group_barrier_lets_the_waiting_cores_go_after_all_have_arrived() -> None:
    result = run(3, 4)
    assert result.races == []
    assert (result.outputs["y"].reshape(8, 64)[:4] == 2 * 512).all()


def test_a_turn_begins_with_a_barrier() -> None:
    result = run(4, 3)
    assert result.races == []
    assert (result.outputs["y"].reshape(8, 64)[:3] == np.arange(64)).all()


def test_destroying_a_pipe_waits_for_its_work() -> None:
    assert run(5, 1).races == []


def test_without_that_wait_the_next_pipe_races() -> None:
    assert run(6, 1).races != []


@pytest.mark.parametrize("how", [7, 8])
def test_a_pool_is_given_out_again_after_its_queues_are_done(how: int) -> None:
    result = run(how, 1)
    assert result.races == []
    assert (result.outputs["y"].reshape(8, 64)[:2] == np.arange(64) + 1).all()
