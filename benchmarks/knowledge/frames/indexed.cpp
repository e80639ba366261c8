// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = 1024;

// y[i] = x[index[i]] for every core's N indices into one table of N elements.
class Op {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR index, GM_ADDR y, TPipe* pipe) {
        xGm.SetGlobalBuffer((__gm__ float*)x, N);
        indexGm.SetGlobalBuffer((__gm__ int32_t*)index + N * GetBlockIdx(), N);
        yGm.SetGlobalBuffer((__gm__ float*)y + N * GetBlockIdx(), N);
        pipe->InitBuffer(inX, 1, N * sizeof(float));
        pipe->InitBuffer(inIndex, 1, N * sizeof(int32_t));
        pipe->InitBuffer(outY, 1, N * sizeof(float));
        pipe->InitBuffer(offsetBuf, N * sizeof(int32_t));
    }
    __aicore__ inline void Process() {
        LocalTensor<float> x = inX.AllocTensor<float>();
        LocalTensor<int32_t> index = inIndex.AllocTensor<int32_t>();
        DataCopy(x, xGm, N);
        DataCopy(index, indexGm, N);
        inX.EnQue(x);
        inIndex.EnQue(index);
        x = inX.DeQue<float>();
        index = inIndex.DeQue<int32_t>();
        LocalTensor<int32_t> offset = offsetBuf.Get<int32_t>();
        LocalTensor<float> y = outY.AllocTensor<float>();
        @BODY@
        inX.FreeTensor(x);
        inIndex.FreeTensor(index);
        outY.EnQue(y);
        y = outY.DeQue<float>();
        DataCopy(yGm, y, N);
        outY.FreeTensor(y);
    }

private:
    TQue<QuePosition::VECIN, 1> inX, inIndex;
    TQue<QuePosition::VECOUT, 1> outY;
    TBuf<TPosition::VECCALC> offsetBuf;
    GlobalTensor<float> xGm, yGm;
    GlobalTensor<int32_t> indexGm;
};

extern "C" __global__ __aicore__ void op(GM_ADDR x, GM_ADDR index, GM_ADDR y) {
    TPipe pipe;
    Op op;
    op.Init(x, index, y, &pipe);
    op.Process();
}
