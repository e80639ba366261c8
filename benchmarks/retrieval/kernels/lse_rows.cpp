// SPDX-License-Identifier: Apache-2.0
// log(sum(exp(x))) of every row.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t COLS = 72;

class LseRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rowCount, TPipe* pipe) {
        rows = rowCount / GetBlockNum();
        xGm.SetGlobalBuffer((__gm__ float*)x + rows * COLS * GetBlockIdx(), rows * COLS);
        yGm.SetGlobalBuffer((__gm__ float*)y + rows * GetBlockIdx(), rows);
        pipe->InitBuffer(rowQueue, 2, COLS * sizeof(float));
        pipe->InitBuffer(sumQueue, 1, 64);
        pipe->InitBuffer(workBuf, 256);
        pipe->InitBuffer(oneBuf, 64);
        pipe->InitBuffer(peakBuf, 64);
    }
    __aicore__ inline void Process() {
        LocalTensor<float> sums = sumQueue.AllocTensor<float>();
        LocalTensor<float> work = workBuf.Get<float>();
        LocalTensor<float> one = oneBuf.Get<float>();
        LocalTensor<float> peaks = peakBuf.Get<float>();
        for (uint32_t r = 0; r < rows; ++r) {
            LocalTensor<float> row = rowQueue.AllocTensor<float>();
            DataCopy(row, xGm[r * COLS], COLS);
            rowQueue.EnQue(row);
            row = rowQueue.DeQue<float>();
            ReduceMax(one, row, work, COLS);
            float peak = one.GetValue(0);
            Adds(row, row, -peak, COLS);
            Exp(row, row, COLS);
            ReduceSum(one, row, work, COLS);
            peaks.SetValue(r, peak);
            sums.SetValue(r, one.GetValue(0));
            rowQueue.FreeTensor(row);
        }
        Ln(sums, sums, rows);
        Add(sums, sums, peaks, rows);
        sumQueue.EnQue(sums);
        sums = sumQueue.DeQue<float>();
        DataCopyPad(yGm, sums, DataCopyExtParams{1, static_cast<uint32_t>(rows * sizeof(float)), 0, 0, 0});
        sumQueue.FreeTensor(sums);
    }

private:
    TQue<QuePosition::VECIN, 1> rowQueue;
    TQue<QuePosition::VECOUT, 1> sumQueue;
    TBuf<TPosition::VECCALC> workBuf, oneBuf, peakBuf;
    GlobalTensor<float> xGm, yGm;
    uint32_t rows;
};

extern "C" __global__ __aicore__ void lse_rows(GM_ADDR x, GM_ADDR y, uint32_t rows) {
    TPipe pipe;
    LseRows op;
    op.Init(x, y, rows, &pipe);
    op.Process();
}
