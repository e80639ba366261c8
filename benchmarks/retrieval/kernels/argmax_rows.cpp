// SPDX-License-Identifier: Apache-2.0
// Place of the largest element of every row; rows are padded to whole blocks.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t COLS = 90;
constexpr uint32_t PITCH = 96;

class ArgmaxRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rowCount, TPipe* pipe) {
        rows = rowCount / GetBlockNum();
        first = rows * GetBlockIdx();
        xGm.SetGlobalBuffer((__gm__ float*)x + first * COLS, rows * COLS);
        yGm.SetGlobalBuffer((__gm__ int32_t*)y + first, rows);
        pipe->InitBuffer(rowQueue, 2, PITCH * sizeof(float));
        pipe->InitBuffer(foundQueue, 1, 32);
        pipe->InitBuffer(workBuf, 256);
        pipe->InitBuffer(bestBuf, 32);
    }
    __aicore__ inline void Process() {
        LocalTensor<int32_t> found = foundQueue.AllocTensor<int32_t>();
        LocalTensor<float> work = workBuf.Get<float>();
        LocalTensor<float> best = bestBuf.Get<float>();
        for (uint32_t r = 0; r < rows; ++r) {
            LocalTensor<float> row = rowQueue.AllocTensor<float>();
            DataCopyExtParams copy{1, COLS * sizeof(float), 0, 0, 0};
            DataCopyPadExtParams<float> pad{true, 0, PITCH - COLS, -3.0e38f};
            DataCopyPad(row, xGm[r * COLS], copy, pad);
            rowQueue.EnQue(row);
            row = rowQueue.DeQue<float>();
            ReduceMax(best, row, work, PITCH, true);
            rowQueue.FreeTensor(row);
            LocalTensor<int32_t> bits = best.ReinterpretCast<int32_t>();
            found.SetValue(r, bits.GetValue(1));
        }
        foundQueue.EnQue(found);
        found = foundQueue.DeQue<int32_t>();
        DataCopyExtParams out{1, static_cast<uint32_t>(rows * sizeof(int32_t)), 0, 0, 0};
        DataCopyPad(yGm, found, out);
        foundQueue.FreeTensor(found);
    }

private:
    TQue<QuePosition::VECIN, 1> rowQueue;
    TQue<QuePosition::VECOUT, 1> foundQueue;
    TBuf<TPosition::VECCALC> workBuf, bestBuf;
    GlobalTensor<float> xGm;
    GlobalTensor<int32_t> yGm;
    uint32_t rows, first;
};

extern "C" __global__ __aicore__ void argmax_rows(GM_ADDR x, GM_ADDR y, uint32_t rows) {
    TPipe pipe;
    ArgmaxRows op;
    op.Init(x, y, rows, &pipe);
    op.Process();
}
