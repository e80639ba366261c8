// SPDX-License-Identifier: Apache-2.0
// y = x / rms(x) * gamma for rows of half, computed in float.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t COLS = 200;
constexpr uint32_t PITCH = 208;

class RmsRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, uint32_t rowCount, TPipe* pipe) {
        rows = rowCount / GetBlockNum();
        const uint32_t first = rows * GetBlockIdx();
        xGm.SetGlobalBuffer((__gm__ half*)x + first * COLS, rows * COLS);
        gammaGm.SetGlobalBuffer((__gm__ half*)gamma, COLS);
        yGm.SetGlobalBuffer((__gm__ half*)y + first * COLS, rows * COLS);
        pipe->InitBuffer(xQueue, 2, PITCH * sizeof(half));
        pipe->InitBuffer(gammaQueue, 1, PITCH * sizeof(half));
        pipe->InitBuffer(yQueue, 2, PITCH * sizeof(half));
        pipe->InitBuffer(wideBuf, PITCH * sizeof(float));
        pipe->InitBuffer(squareBuf, PITCH * sizeof(float));
        pipe->InitBuffer(scaleBuf, PITCH * sizeof(float));
        pipe->InitBuffer(workBuf, 256);
        pipe->InitBuffer(sumBuf, 64);
    }
    __aicore__ inline void Process() {
        LoadGamma();
        for (uint32_t r = 0; r < rows; ++r) {
            CopyIn(r);
            Compute();
            CopyOut(r);
        }
    }

private:
    __aicore__ inline void LoadGamma() {
        LocalTensor<half> gamma = gammaQueue.AllocTensor<half>();
        DataCopyExtParams copy{1, COLS * sizeof(half), 0, 0, 0};
        DataCopyPad(gamma, gammaGm, copy, DataCopyPadExtParams<half>{false, 0, 0, half(0)});
        gammaQueue.EnQue(gamma);
        gamma = gammaQueue.DeQue<half>();
        LocalTensor<float> scale = scaleBuf.Get<float>();
        Cast(scale, gamma, RoundMode::CAST_NONE, COLS);
        gammaQueue.FreeTensor(gamma);
    }
    __aicore__ inline void CopyIn(uint32_t r) {
        LocalTensor<half> x = xQueue.AllocTensor<half>();
        DataCopyExtParams copy{1, COLS * sizeof(half), 0, 0, 0};
        DataCopyPad(x, xGm[r * COLS], copy, DataCopyPadExtParams<half>{false, 0, 0, half(0)});
        xQueue.EnQue(x);
    }
    __aicore__ inline void Compute() {
        LocalTensor<half> x = xQueue.DeQue<half>();
        LocalTensor<half> y = yQueue.AllocTensor<half>();
        LocalTensor<float> wide = wideBuf.Get<float>();
        LocalTensor<float> square = squareBuf.Get<float>();
        LocalTensor<float> scale = scaleBuf.Get<float>();
        LocalTensor<float> work = workBuf.Get<float>();
        LocalTensor<float> sum = sumBuf.Get<float>();
        Cast(wide, x, RoundMode::CAST_NONE, COLS);
        xQueue.FreeTensor(x);
        Mul(square, wide, wide, COLS);
        ReduceSum(sum, square, work, COLS);
        Muls(sum, sum, 1.0f / COLS, 1);
        Adds(sum, sum, 1e-6f, 1);
        Sqrt(sum, sum, 1);
        float root = sum.GetValue(0);
        Muls(wide, wide, 1.0f / root, COLS);
        Mul(wide, wide, scale, COLS);
        Cast(y, wide, RoundMode::CAST_RINT, COLS);
        yQueue.EnQue(y);
    }
    __aicore__ inline void CopyOut(uint32_t r) {
        LocalTensor<half> y = yQueue.DeQue<half>();
        DataCopyExtParams copy{1, COLS * sizeof(half), 0, 0, 0};
        DataCopyPad(yGm[r * COLS], y, copy);
        yQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 1> xQueue, gammaQueue;
    TQue<QuePosition::VECOUT, 1> yQueue;
    TBuf<TPosition::VECCALC> wideBuf, squareBuf, scaleBuf, workBuf, sumBuf;
    GlobalTensor<half> xGm, gammaGm, yGm;
    uint32_t rows;
};

extern "C" __global__ __aicore__ void rms_rows(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, uint32_t rows) {
    TPipe pipe;
    RmsRows op;
    op.Init(x, gamma, y, rows, &pipe);
    op.Process();
}
