// SPDX-License-Identifier: Apache-2.0
// Sorts groups of 32 values downwards, with their indices; writes value and index pairs.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = 128;

class SortGroups {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, TPipe* pipe) {
        xGm.SetGlobalBuffer((__gm__ float*)x + N * GetBlockIdx(), N);
        yGm.SetGlobalBuffer((__gm__ float*)y + 2 * N * GetBlockIdx(), 2 * N);
        pipe->InitBuffer(inX, 1, N * sizeof(float));
        pipe->InitBuffer(outY, 1, 2 * N * sizeof(float));
        pipe->InitBuffer(indexBuf, N * sizeof(int32_t));
    }
    __aicore__ inline void Process() {
        LocalTensor<float> x = inX.AllocTensor<float>();
        DataCopy(x, xGm, N);
        inX.EnQue(x);
        x = inX.DeQue<float>();
        LocalTensor<int32_t> index = indexBuf.Get<int32_t>();
        for (uint32_t i = 0; i < N; ++i) index.SetValue(i, static_cast<int32_t>(i));
        LocalTensor<float> y = outY.AllocTensor<float>();
        Sort32(y, x, index.ReinterpretCast<uint32_t>(), N / 32);
        inX.FreeTensor(x);
        outY.EnQue(y);
        y = outY.DeQue<float>();
        DataCopy(yGm, y, 2 * N);
        outY.FreeTensor(y);
    }

private:
    TQue<QuePosition::VECIN, 1> inX;
    TQue<QuePosition::VECOUT, 1> outY;
    TBuf<TPosition::VECCALC> indexBuf;
    GlobalTensor<float> xGm, yGm;
};

extern "C" __global__ __aicore__ void sort_groups(GM_ADDR x, GM_ADDR y) {
    TPipe pipe;
    SortGroups op;
    op.Init(x, y, &pipe);
    op.Process();
}
