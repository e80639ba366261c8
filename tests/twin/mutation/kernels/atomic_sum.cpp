// SPDX-License-Identifier: Apache-2.0
// y[128] += sum over rows of x[rows, 128]; every core adds its rows with atomic copies.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t WIDTH = 128;

class AtomicSum {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rowCount, TPipe* pipe) {
        rows = rowCount / GetBlockNum();
        xGm.SetGlobalBuffer((__gm__ float*)x + rows * WIDTH * GetBlockIdx(), rows * WIDTH);
        yGm.SetGlobalBuffer((__gm__ float*)y, WIDTH);
        pipe->InitBuffer(inX, 2, WIDTH * sizeof(float));
        pipe->InitBuffer(outY, 1, WIDTH * sizeof(float));
    }
    __aicore__ inline void Process() {
        LocalTensor<float> sum = outY.AllocTensor<float>();
        Duplicate(sum, 0.0f, WIDTH);
        for (uint32_t r = 0; r < rows; ++r) {
            LocalTensor<float> x = inX.AllocTensor<float>();
            DataCopy(x, xGm[r * WIDTH], WIDTH);
            inX.EnQue(x);
            x = inX.DeQue<float>();
            Add(sum, sum, x, WIDTH);
            inX.FreeTensor(x);
        }
        outY.EnQue(sum);
        sum = outY.DeQue<float>();
        SetAtomicAdd<float>();
        DataCopy(yGm, sum, WIDTH);
        SetAtomicNone();
        outY.FreeTensor(sum);
    }

private:
    TQue<QuePosition::VECIN, 1> inX;
    TQue<QuePosition::VECOUT, 1> outY;
    GlobalTensor<float> xGm, yGm;
    uint32_t rows;
};

extern "C" __global__ __aicore__ void atomic_sum(GM_ADDR x, GM_ADDR y, uint32_t rows) {
    TPipe pipe;
    AtomicSum op;
    op.Init(x, y, rows, &pipe);
    op.Process();
}
