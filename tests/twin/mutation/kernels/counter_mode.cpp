// SPDX-License-Identifier: Apache-2.0
// y = x + x * 0.5 over 1000 elements in counter mode; the mask register holds the count.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = 1000;

class CounterMode {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, TPipe* pipe) {
        xGm.SetGlobalBuffer((__gm__ float*)x + N * GetBlockIdx(), N);
        yGm.SetGlobalBuffer((__gm__ float*)y + N * GetBlockIdx(), N);
        pipe->InitBuffer(inX, 1, N * sizeof(float));
        pipe->InitBuffer(outY, 1, N * sizeof(float));
    }
    __aicore__ inline void Process() {
        LocalTensor<float> x = inX.AllocTensor<float>();
        DataCopy(x, xGm, N);
        inX.EnQue(x);
        x = inX.DeQue<float>();
        LocalTensor<float> y = outY.AllocTensor<float>();
        SetMaskCount();
        SetVectorMask<float, MaskMode::COUNTER>(0, N);
        Muls<float, false>(y, x, 0.5f, MASK_PLACEHOLDER, 1, UnaryRepeatParams(1, 1, 8, 8));
        Add<float, false>(y, y, x, MASK_PLACEHOLDER, 1, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        SetMaskNorm();
        ResetMask();
        inX.FreeTensor(x);
        outY.EnQue(y);
        y = outY.DeQue<float>();
        DataCopy(yGm, y, N);
        outY.FreeTensor(y);
    }

private:
    TQue<QuePosition::VECIN, 1> inX;
    TQue<QuePosition::VECOUT, 1> outY;
    GlobalTensor<float> xGm, yGm;
};

extern "C" __global__ __aicore__ void counter_mode(GM_ADDR x, GM_ADDR y) {
    TPipe pipe;
    CounterMode op;
    op.Init(x, y, &pipe);
    op.Process();
}
