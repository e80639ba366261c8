// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 1024;

// Plain buffers instead of queues: four events order the pipes of every round.
class Op {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t total, TPipe* p) {
        pipe = p;
        uint32_t share = (total + GetBlockNum() - 1) / GetBlockNum();
        share = (share + 127) / 128 * 128;
        uint32_t start = share * GetBlockIdx();
        length = start >= total ? 0 : (total - start < share ? total - start : share);
        xGm.SetGlobalBuffer((__gm__ float*)x + start, length);
        yGm.SetGlobalBuffer((__gm__ float*)y + start, length);
        pipe->InitBuffer(xBuf, TILE * sizeof(float));
        pipe->InitBuffer(yBuf, TILE * sizeof(float));
    }
    __aicore__ inline void Process() {
        LocalTensor<float> x = xBuf.Get<float>();
        LocalTensor<float> y = yBuf.Get<float>();
        event_t loaded = static_cast<event_t>(pipe->AllocEventID<HardEvent::MTE2_V>());
        event_t taken = static_cast<event_t>(pipe->AllocEventID<HardEvent::V_MTE2>());
        event_t computed = static_cast<event_t>(pipe->AllocEventID<HardEvent::V_MTE3>());
        event_t stored = static_cast<event_t>(pipe->AllocEventID<HardEvent::MTE3_V>());
        SetFlag<HardEvent::V_MTE2>(taken);
        SetFlag<HardEvent::MTE3_V>(stored);
        for (uint32_t at = 0; at < length; at += TILE) {
            uint32_t count = length - at < TILE ? length - at : TILE;
            DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
            WaitFlag<HardEvent::V_MTE2>(taken);
            DataCopyPad(x, xGm[at], copy, DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
            SetFlag<HardEvent::MTE2_V>(loaded);
            WaitFlag<HardEvent::MTE2_V>(loaded);
            WaitFlag<HardEvent::MTE3_V>(stored);
            Mul(y, x, x, count);
            SetFlag<HardEvent::V_MTE2>(taken);
            SetFlag<HardEvent::V_MTE3>(computed);
            WaitFlag<HardEvent::V_MTE3>(computed);
            DataCopyPad(yGm[at], y, copy);
            SetFlag<HardEvent::MTE3_V>(stored);
        }
        WaitFlag<HardEvent::V_MTE2>(taken);
        WaitFlag<HardEvent::MTE3_V>(stored);
        pipe->ReleaseEventID<HardEvent::MTE2_V>(loaded);
        pipe->ReleaseEventID<HardEvent::V_MTE2>(taken);
        pipe->ReleaseEventID<HardEvent::V_MTE3>(computed);
        pipe->ReleaseEventID<HardEvent::MTE3_V>(stored);
    }

private:
    TPipe* pipe;
    TBuf<TPosition::VECCALC> xBuf, yBuf;
    GlobalTensor<float> xGm, yGm;
    uint32_t length;
};

extern "C" __global__ __aicore__ void op(GM_ADDR x, GM_ADDR y, uint32_t total) {
    TPipe pipe;
    Op op;
    op.Init(x, y, total, &pipe);
    op.Process();
}
