// SPDX-License-Identifier: Apache-2.0
// Softmax of rows in plain buffers; flags between the pipes are set by hand.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t COLUMNS = 100;
constexpr uint32_t ROW = 104;

class SoftmaxRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rowCount, TPipe* p) {
        pipe = p;
        rows = rowCount / GetBlockNum();
        uint64_t start = uint64_t(rows) * GetBlockIdx() * COLUMNS;
        xGm.SetGlobalBuffer((__gm__ float*)x + start, rows * COLUMNS);
        yGm.SetGlobalBuffer((__gm__ float*)y + start, rows * COLUMNS);
        pipe->InitBuffer(rowBuf, ROW * sizeof(float));
        pipe->InitBuffer(expBuf, ROW * sizeof(float));
        pipe->InitBuffer(workBuf, 256);
        pipe->InitBuffer(bestBuf, 32);
    }
    __aicore__ inline void Process() {
        LocalTensor<float> row = rowBuf.Get<float>();
        LocalTensor<float> result = expBuf.Get<float>();
        LocalTensor<float> work = workBuf.Get<float>();
        LocalTensor<float> best = bestBuf.Get<float>();
        int32_t loaded = static_cast<int32_t>(pipe->AllocEventID<HardEvent::MTE2_V>());
        int32_t consumed = static_cast<int32_t>(pipe->AllocEventID<HardEvent::V_MTE2>());
        int32_t computed = static_cast<int32_t>(pipe->AllocEventID<HardEvent::V_MTE3>());
        int32_t stored = static_cast<int32_t>(pipe->AllocEventID<HardEvent::MTE3_V>());
        SetFlag<HardEvent::V_MTE2>(consumed);
        SetFlag<HardEvent::MTE3_V>(stored);
        for (uint32_t r = 0; r < rows; ++r) {
            WaitFlag<HardEvent::V_MTE2>(consumed);
            DataCopyExtParams in{1, COLUMNS * sizeof(float), 0, 0, 0};
            DataCopyPad(row, xGm[r * COLUMNS], in, DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
            SetFlag<HardEvent::MTE2_V>(loaded);
            WaitFlag<HardEvent::MTE2_V>(loaded);
            ReduceMax(best, row, work, COLUMNS);
            float largest = best.GetValue(0);
            WaitFlag<HardEvent::MTE3_V>(stored);
            Adds(result, row, -largest, COLUMNS);
            SetFlag<HardEvent::V_MTE2>(consumed);
            Exp(result, result, COLUMNS);
            ReduceSum(best, result, work, COLUMNS);
            float sum = best.GetValue(0);
            Muls(result, result, 1.0f / sum, COLUMNS);
            SetFlag<HardEvent::V_MTE3>(computed);
            WaitFlag<HardEvent::V_MTE3>(computed);
            DataCopyPad(yGm[r * COLUMNS], result, in);
            SetFlag<HardEvent::MTE3_V>(stored);
        }
        WaitFlag<HardEvent::V_MTE2>(consumed);
        WaitFlag<HardEvent::MTE3_V>(stored);
        pipe->ReleaseEventID<HardEvent::MTE2_V>(loaded);
        pipe->ReleaseEventID<HardEvent::V_MTE2>(consumed);
        pipe->ReleaseEventID<HardEvent::V_MTE3>(computed);
        pipe->ReleaseEventID<HardEvent::MTE3_V>(stored);
    }

private:
    TPipe* pipe;
    TBuf<TPosition::VECCALC> rowBuf, expBuf, workBuf, bestBuf;
    GlobalTensor<float> xGm, yGm;
    uint32_t rows;
};

extern "C" __global__ __aicore__ void softmax_rows(GM_ADDR x, GM_ADDR y, uint32_t rows) {
    TPipe pipe;
    SoftmaxRows op;
    op.Init(x, y, rows, &pipe);
    op.Process();
}
