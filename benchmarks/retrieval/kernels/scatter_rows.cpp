// SPDX-License-Identifier: Apache-2.0
// y[place[r]] += x[r]: rows are added where an index says, by several cores.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t COLS = 64;

class ScatterRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR place, GM_ADDR y, uint32_t rowCount, TPipe* pipe) {
        rows = rowCount / GetBlockNum();
        first = rows * GetBlockIdx();
        xGm.SetGlobalBuffer((__gm__ float*)x + first * COLS, rows * COLS);
        placeGm.SetGlobalBuffer((__gm__ int32_t*)place + first, rows);
        yGm.SetGlobalBuffer((__gm__ float*)y, 8 * COLS);
        pipe->InitBuffer(queue, 2, COLS * sizeof(float));
    }
    __aicore__ inline void Process() {
        for (uint32_t r = 0; r < rows; ++r) {
            LocalTensor<float> row = queue.AllocTensor<float>();
            DataCopy(row, xGm[r * COLS], COLS);
            queue.EnQue(row);
            row = queue.DeQue<float>();
            const int32_t at = placeGm.GetValue(r);
            SetAtomicAdd<float>();
            DataCopy(yGm[at * COLS], row, COLS);
            SetAtomicNone();
            queue.FreeTensor(row);
        }
    }

private:
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    GlobalTensor<float> xGm, yGm;
    GlobalTensor<int32_t> placeGm;
    uint32_t rows, first;
};

extern "C" __global__ __aicore__ void scatter_rows(GM_ADDR x, GM_ADDR place, GM_ADDR y, uint32_t rows) {
    TPipe pipe;
    ScatterRows op;
    op.Init(x, place, y, rows, &pipe);
    op.Process();
}
