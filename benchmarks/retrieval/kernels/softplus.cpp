// SPDX-License-Identifier: Apache-2.0
// y = log(1 + exp(x)), stable for large x.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 768;

class Softplus {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t total, TPipe* pipe) {
        length = total / GetBlockNum();
        xGm.SetGlobalBuffer((__gm__ float*)x + length * GetBlockIdx(), length);
        yGm.SetGlobalBuffer((__gm__ float*)y + length * GetBlockIdx(), length);
        pipe->InitBuffer(xQueue, 2, TILE * sizeof(float));
        pipe->InitBuffer(yQueue, 2, TILE * sizeof(float));
        pipe->InitBuffer(tmpBuf, TILE * sizeof(float));
    }
    __aicore__ inline void Process() {
        for (uint32_t done = 0; done < length; done += TILE) {
            LocalTensor<float> x = xQueue.AllocTensor<float>();
            DataCopy(x, xGm[done], TILE);
            xQueue.EnQue(x);
            x = xQueue.DeQue<float>();
            LocalTensor<float> y = yQueue.AllocTensor<float>();
            LocalTensor<float> tmp = tmpBuf.Get<float>();
            Abs(tmp, x, TILE);
            Muls(tmp, tmp, -1.0f, TILE);
            Exp(tmp, tmp, TILE);
            Adds(tmp, tmp, 1.0f, TILE);
            Ln(tmp, tmp, TILE);
            Maxs(y, x, 0.0f, TILE);
            Add(y, y, tmp, TILE);
            xQueue.FreeTensor(x);
            yQueue.EnQue(y);
            y = yQueue.DeQue<float>();
            DataCopy(yGm[done], y, TILE);
            yQueue.FreeTensor(y);
        }
    }

private:
    TQue<QuePosition::VECIN, 1> xQueue;
    TQue<QuePosition::VECOUT, 1> yQueue;
    TBuf<TPosition::VECCALC> tmpBuf;
    GlobalTensor<float> xGm, yGm;
    uint32_t length;
};

extern "C" __global__ __aicore__ void softplus(GM_ADDR x, GM_ADDR y, uint32_t total) {
    TPipe pipe;
    Softplus op;
    op.Init(x, y, total, &pipe);
    op.Process();
}
