// SPDX-License-Identifier: Apache-2.0
// Takes the first 24 columns of rows of 40: a pure copy through one bound queue.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t COLUMNS = 40;
constexpr uint32_t KEPT = 24;
constexpr uint32_t BATCH = 8;

class BindCopy {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rowCount, TPipe* pipe) {
        rows = rowCount / GetBlockNum();
        xGm.SetGlobalBuffer((__gm__ int16_t*)x + rows * COLUMNS * GetBlockIdx(), rows * COLUMNS);
        yGm.SetGlobalBuffer((__gm__ int16_t*)y + rows * KEPT * GetBlockIdx(), rows * KEPT);
        pipe->InitBuffer(queue, 2, BATCH * 64);
    }
    __aicore__ inline void Process() {
        for (uint32_t r = 0; r < rows; r += BATCH) {
            LocalTensor<int16_t> t = queue.AllocTensor<int16_t>();
            DataCopyExtParams in{BATCH, KEPT * sizeof(int16_t), (COLUMNS - KEPT) * sizeof(int16_t), 0, 0};
            DataCopyPad(t, xGm[r * COLUMNS], in, DataCopyPadExtParams<int16_t>{true, 0, 8, 0});
            queue.EnQue(t);
            t = queue.DeQue<int16_t>();
            DataCopyExtParams out{BATCH, KEPT * sizeof(int16_t), 0, 0, 0};
            DataCopyPad(yGm[r * KEPT], t, out);
            queue.FreeTensor(t);
        }
    }

private:
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> queue;
    GlobalTensor<int16_t> xGm, yGm;
    uint32_t rows;
};

extern "C" __global__ __aicore__ void bind_copy(GM_ADDR x, GM_ADDR y, uint32_t rows) {
    TPipe pipe;
    BindCopy op;
    op.Init(x, y, rows, &pipe);
    op.Process();
}
