// SPDX-License-Identifier: Apache-2.0
// y[r] = x[2r] + x[2r + 1] for rows of 128 half: pooling down the rows with strides.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t WIDTH = 128;
constexpr uint32_t PAIRS = 16;

class RowPairs {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, TPipe* pipe) {
        xGm.SetGlobalBuffer((__gm__ half*)x + 2 * PAIRS * WIDTH * GetBlockIdx(), 2 * PAIRS * WIDTH);
        yGm.SetGlobalBuffer((__gm__ half*)y + PAIRS * WIDTH * GetBlockIdx(), PAIRS * WIDTH);
        pipe->InitBuffer(evenQueue, 1, PAIRS * WIDTH * sizeof(half));
        pipe->InitBuffer(oddQueue, 1, PAIRS * WIDTH * sizeof(half));
        pipe->InitBuffer(yQueue, 1, PAIRS * WIDTH * sizeof(half));
    }
    __aicore__ inline void Process() {
        LocalTensor<half> even = evenQueue.AllocTensor<half>();
        LocalTensor<half> odd = oddQueue.AllocTensor<half>();
        DataCopyParams everyOther(PAIRS, WIDTH / 16, WIDTH / 16, 0);
        DataCopy(even, xGm, everyOther);
        DataCopy(odd, xGm[WIDTH], everyOther);
        evenQueue.EnQue(even);
        oddQueue.EnQue(odd);
        even = evenQueue.DeQue<half>();
        odd = oddQueue.DeQue<half>();
        LocalTensor<half> y = yQueue.AllocTensor<half>();
        const uint64_t lanes = 128;
        Add(y, even, odd, lanes, PAIRS, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        evenQueue.FreeTensor(even);
        oddQueue.FreeTensor(odd);
        yQueue.EnQue(y);
        y = yQueue.DeQue<half>();
        DataCopy(yGm, y, PAIRS * WIDTH);
        yQueue.FreeTensor(y);
    }

private:
    TQue<QuePosition::VECIN, 1> evenQueue, oddQueue;
    TQue<QuePosition::VECOUT, 1> yQueue;
    GlobalTensor<half> xGm, yGm;
};

extern "C" __global__ __aicore__ void row_pairs(GM_ADDR x, GM_ADDR y) {
    TPipe pipe;
    RowPairs op;
    op.Init(x, y, &pipe);
    op.Process();
}
