// SPDX-License-Identifier: Apache-2.0
// y = clip(x, -3, 4) of int32, any length.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 256;

class ClipInts {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t total, TPipe* pipe) {
        const uint32_t share = (total + GetBlockNum() * 8 - 1) / (GetBlockNum() * 8) * 8;
        const uint32_t start = share * GetBlockIdx();
        count = start < total ? (share < total - start ? share : total - start) : 0;
        xGm.SetGlobalBuffer((__gm__ int32_t*)x + start, count);
        yGm.SetGlobalBuffer((__gm__ int32_t*)y + start, count);
        pipe->InitBuffer(xQueue, 2, TILE * sizeof(int32_t));
        pipe->InitBuffer(yQueue, 2, TILE * sizeof(int32_t));
        pipe->InitBuffer(extraBuf, TILE * sizeof(float));
        pipe->InitBuffer(bitsBuf, 64);
    }
    __aicore__ inline void Process() {
        for (uint32_t done = 0; done < count; done += TILE) {
            const uint32_t n = count - done < TILE ? count - done : TILE;
            LocalTensor<int32_t> x = xQueue.AllocTensor<int32_t>();
            DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(int32_t)), 0, 0, 0};
            DataCopyPad(x, xGm[done], copy, DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
            xQueue.EnQue(x);
            x = xQueue.DeQue<int32_t>();
            LocalTensor<int32_t> y = yQueue.AllocTensor<int32_t>();
            Maxs(y, x, -3, n);
            Mins(y, y, 4, n);
            xQueue.FreeTensor(x);
            yQueue.EnQue(y);
            y = yQueue.DeQue<int32_t>();
            DataCopyPad(yGm[done], y, copy);
            yQueue.FreeTensor(y);
        }
    }

private:
    TQue<QuePosition::VECIN, 1> xQueue;
    TQue<QuePosition::VECOUT, 1> yQueue;
    TBuf<TPosition::VECCALC> extraBuf, bitsBuf;
    GlobalTensor<int32_t> xGm, yGm;
    uint32_t count;
};

extern "C" __global__ __aicore__ void clip_ints(GM_ADDR x, GM_ADDR y, uint32_t total) {
    TPipe pipe;
    ClipInts op;
    op.Init(x, y, total, &pipe);
    op.Process();
}
