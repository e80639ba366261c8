// SPDX-License-Identifier: Apache-2.0
// y = sqrt(|x|) / 2 with one plain buffer a side; every dependence is ordered by hand.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 1024;

class RootEvents {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t total, TPipe* pipe) {
        tiles = total / GetBlockNum() / TILE;
        xGm.SetGlobalBuffer((__gm__ half*)x + tiles * TILE * GetBlockIdx(), tiles * TILE);
        yGm.SetGlobalBuffer((__gm__ half*)y + tiles * TILE * GetBlockIdx(), tiles * TILE);
        pipe->InitBuffer(source, TILE * sizeof(half));
        pipe->InitBuffer(target, TILE * sizeof(half));
    }
    __aicore__ inline void Process() {
        LocalTensor<half> x = source.Get<half>();
        LocalTensor<half> y = target.Get<half>();
        SetFlag<HardEvent::V_MTE2>(EVENT_ID2);
        SetFlag<HardEvent::MTE3_V>(EVENT_ID3);
        for (uint32_t t = 0; t < tiles; ++t) {
            WaitFlag<HardEvent::V_MTE2>(EVENT_ID2);
            DataCopy(x, xGm[t * TILE], TILE);
            SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
            WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
            WaitFlag<HardEvent::MTE3_V>(EVENT_ID3);
            Abs(y, x, TILE);
            SetFlag<HardEvent::V_MTE2>(EVENT_ID2);
            PipeBarrier<PIPE_V>();
            Sqrt(y, y, TILE);
            PipeBarrier<PIPE_V>();
            Muls(y, y, half(0.5), TILE);
            SetFlag<HardEvent::V_MTE3>(EVENT_ID1);
            WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
            DataCopy(yGm[t * TILE], y, TILE);
            SetFlag<HardEvent::MTE3_V>(EVENT_ID3);
        }
        WaitFlag<HardEvent::V_MTE2>(EVENT_ID2);
        WaitFlag<HardEvent::MTE3_V>(EVENT_ID3);
    }

private:
    TBuf<TPosition::VECCALC> source, target;
    GlobalTensor<half> xGm, yGm;
    uint32_t tiles;
};

extern "C" __global__ __aicore__ void root_events(GM_ADDR x, GM_ADDR y, uint32_t total) {
    TPipe pipe;
    RootEvents op;
    op.Init(x, y, total, &pipe);
    op.Process();
}
