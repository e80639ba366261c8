// SPDX-License-Identifier: Apache-2.0
// y[i] = x[n - 1 - i] where that is above 0, else -1: Gather, CompareScalar, Select.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = 256;

class GatherSelect {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR offsets, GM_ADDR y, TPipe* pipe) {
        xGm.SetGlobalBuffer((__gm__ float*)x + N * GetBlockIdx(), N);
        offsetGm.SetGlobalBuffer((__gm__ uint32_t*)offsets, N);
        yGm.SetGlobalBuffer((__gm__ float*)y + N * GetBlockIdx(), N);
        pipe->InitBuffer(inX, 1, N * sizeof(float));
        pipe->InitBuffer(inOffset, 1, N * sizeof(uint32_t));
        pipe->InitBuffer(outY, 1, N * sizeof(float));
        pipe->InitBuffer(gathered, N * sizeof(float));
        pipe->InitBuffer(bits, 32);
    }
    __aicore__ inline void Process() {
        LocalTensor<float> x = inX.AllocTensor<float>();
        LocalTensor<uint32_t> offset = inOffset.AllocTensor<uint32_t>();
        DataCopy(x, xGm, N);
        DataCopy(offset, offsetGm, N);
        inX.EnQue(x);
        inOffset.EnQue(offset);
        x = inX.DeQue<float>();
        offset = inOffset.DeQue<uint32_t>();
        LocalTensor<float> taken = gathered.Get<float>();
        LocalTensor<uint8_t> positive = bits.Get<uint8_t>();
        LocalTensor<float> y = outY.AllocTensor<float>();
        Gather(taken, x, offset, 0, N);
        CompareScalar(positive, taken, 0.0f, CMPMODE::GT, N);
        Select(y, positive, taken, -1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, N);
        inX.FreeTensor(x);
        inOffset.FreeTensor(offset);
        outY.EnQue(y);
        y = outY.DeQue<float>();
        DataCopy(yGm, y, N);
        outY.FreeTensor(y);
    }

private:
    TQue<QuePosition::VECIN, 1> inX, inOffset;
    TQue<QuePosition::VECOUT, 1> outY;
    TBuf<TPosition::VECCALC> gathered, bits;
    GlobalTensor<float> xGm, yGm;
    GlobalTensor<uint32_t> offsetGm;
};

extern "C" __global__ __aicore__ void gather_select(GM_ADDR x, GM_ADDR offsets, GM_ADDR y) {
    TPipe pipe;
    GatherSelect op;
    op.Init(x, offsets, y, &pipe);
    op.Process();
}
