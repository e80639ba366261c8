// SPDX-License-Identifier: Apache-2.0
// y = where(m, a, b) for half, m a tensor of truth values.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = 512;

class WhereHalf {
public:
    __aicore__ inline void Init(GM_ADDR m, GM_ADDR a, GM_ADDR b, GM_ADDR y, TPipe* pipe) {
        mGm.SetGlobalBuffer((__gm__ uint8_t*)m + N * GetBlockIdx(), N);
        aGm.SetGlobalBuffer((__gm__ half*)a + N * GetBlockIdx(), N);
        bGm.SetGlobalBuffer((__gm__ half*)b + N * GetBlockIdx(), N);
        yGm.SetGlobalBuffer((__gm__ half*)y + N * GetBlockIdx(), N);
        pipe->InitBuffer(mQueue, 1, N);
        pipe->InitBuffer(aQueue, 1, N * sizeof(half));
        pipe->InitBuffer(bQueue, 1, N * sizeof(half));
        pipe->InitBuffer(yQueue, 1, N * sizeof(half));
        pipe->InitBuffer(truthBuf, N * sizeof(half));
        pipe->InitBuffer(bitsBuf, N / 8);
        pipe->InitBuffer(spareBuf, N * sizeof(float));
    }
    __aicore__ inline void Process() {
        LocalTensor<uint8_t> m = mQueue.AllocTensor<uint8_t>();
        LocalTensor<half> a = aQueue.AllocTensor<half>();
        LocalTensor<half> b = bQueue.AllocTensor<half>();
        DataCopy(m, mGm, N);
        DataCopy(a, aGm, N);
        DataCopy(b, bGm, N);
        mQueue.EnQue(m);
        aQueue.EnQue(a);
        bQueue.EnQue(b);
        m = mQueue.DeQue<uint8_t>();
        a = aQueue.DeQue<half>();
        b = bQueue.DeQue<half>();
        LocalTensor<half> truth = truthBuf.Get<half>();
        LocalTensor<uint8_t> bits = bitsBuf.Get<uint8_t>();
        LocalTensor<half> y = yQueue.AllocTensor<half>();
        Cast(truth, m, RoundMode::CAST_NONE, N);
        CompareScalar(bits, truth, half(0), CMPMODE::NE, N);
        Select(y, bits, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, N);
        mQueue.FreeTensor(m);
        aQueue.FreeTensor(a);
        bQueue.FreeTensor(b);
        yQueue.EnQue(y);
        y = yQueue.DeQue<half>();
        DataCopy(yGm, y, N);
        yQueue.FreeTensor(y);
    }

private:
    TQue<QuePosition::VECIN, 1> mQueue, aQueue, bQueue;
    TQue<QuePosition::VECOUT, 1> yQueue;
    TBuf<TPosition::VECCALC> truthBuf, bitsBuf, spareBuf;
    GlobalTensor<uint8_t> mGm;
    GlobalTensor<half> aGm, bGm, yGm;
};

extern "C" __global__ __aicore__ void where_half(GM_ADDR m, GM_ADDR a, GM_ADDR b, GM_ADDR y) {
    TPipe pipe;
    WhereHalf op;
    op.Init(m, a, b, y, &pipe);
    op.Process();
}
