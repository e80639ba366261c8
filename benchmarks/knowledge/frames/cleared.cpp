// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t WIDTH = 128;

// The sum of every column of x[rows, 128]: y is cleared by core 0, then all cores add.
class Op {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rowCount, TPipe* pipe) {
        uint32_t share = (rowCount + GetBlockNum() - 1) / GetBlockNum();
        uint32_t first = share * GetBlockIdx();
        rows = first >= rowCount ? 0 : (rowCount - first < share ? rowCount - first : share);
        xGm.SetGlobalBuffer((__gm__ float*)x + first * WIDTH, rows * WIDTH);
        yGm.SetGlobalBuffer((__gm__ float*)y, WIDTH);
        pipe->InitBuffer(inX, 2, WIDTH * sizeof(float));
        pipe->InitBuffer(outY, 1, WIDTH * sizeof(float));
    }
    __aicore__ inline void Process() {
        if (GetBlockIdx() == 0) Clear();
        SyncAll();
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
    __aicore__ inline void Clear() {
        LocalTensor<float> zero = outY.AllocTensor<float>();
        Duplicate(zero, 0.0f, WIDTH);
        outY.EnQue(zero);
        zero = outY.DeQue<float>();
        DataCopy(yGm, zero, WIDTH);
        outY.FreeTensor(zero);
    }

    TQue<QuePosition::VECIN, 1> inX;
    TQue<QuePosition::VECOUT, 1> outY;
    GlobalTensor<float> xGm, yGm;
    uint32_t rows;
};

extern "C" __global__ __aicore__ void op(GM_ADDR x, GM_ADDR y, uint32_t rows) {
    TPipe pipe;
    Op op;
    op.Init(x, y, rows, &pipe);
    op.Process();
}
