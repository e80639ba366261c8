// SPDX-License-Identifier: Apache-2.0
// y = x * 3 + 1 in static tensors: two halves of memory in turn, every dependence by hand.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 512;
constexpr uint32_t TILE_BYTES = TILE * sizeof(float);

extern "C" __global__ __aicore__ void static_pingpong(GM_ADDR x, GM_ADDR y, uint32_t total) {
    GlobalTensor<float> xGm, yGm;
    uint32_t length = total / GetBlockNum();
    xGm.SetGlobalBuffer((__gm__ float*)x + length * GetBlockIdx(), length);
    yGm.SetGlobalBuffer((__gm__ float*)y + length * GetBlockIdx(), length);
    LocalTensor<float> xPing(TPosition::VECIN, 0, TILE);
    LocalTensor<float> xPong(TPosition::VECIN, TILE_BYTES, TILE);
    LocalTensor<float> yPing(TPosition::VECOUT, 2 * TILE_BYTES, TILE);
    LocalTensor<float> yPong(TPosition::VECOUT, 3 * TILE_BYTES, TILE);
    SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
    SetFlag<HardEvent::V_MTE2>(EVENT_ID1);
    SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
    SetFlag<HardEvent::MTE3_V>(EVENT_ID1);
    for (uint32_t i = 0; i < length / TILE; ++i) {
        int32_t id = i % 2 == 0 ? EVENT_ID0 : EVENT_ID1;
        LocalTensor<float> in = i % 2 == 0 ? xPing : xPong;
        LocalTensor<float> out = i % 2 == 0 ? yPing : yPong;
        WaitFlag<HardEvent::V_MTE2>(id);
        DataCopy(in, xGm[i * TILE], TILE);
        SetFlag<HardEvent::MTE2_V>(id);
        WaitFlag<HardEvent::MTE2_V>(id);
        WaitFlag<HardEvent::MTE3_V>(id);
        Muls(out, in, 3.0f, TILE);
        PipeBarrier<PIPE_V>();
        Adds(out, out, 1.0f, TILE);
        SetFlag<HardEvent::V_MTE2>(id);
        SetFlag<HardEvent::V_MTE3>(id);
        WaitFlag<HardEvent::V_MTE3>(id);
        DataCopy(yGm[i * TILE], out, TILE);
        SetFlag<HardEvent::MTE3_V>(id);
    }
    WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE2>(EVENT_ID1);
    WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE3_V>(EVENT_ID1);
}
