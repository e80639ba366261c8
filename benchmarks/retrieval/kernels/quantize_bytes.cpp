// SPDX-License-Identifier: Apache-2.0
// y = int8(rint(clip(8 x, -128, 127))): float to bytes by way of half.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 512;

class QuantizeBytes {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t total, TPipe* pipe) {
        length = total / GetBlockNum();
        xGm.SetGlobalBuffer((__gm__ float*)x + length * GetBlockIdx(), length);
        yGm.SetGlobalBuffer((__gm__ int8_t*)y + length * GetBlockIdx(), length);
        pipe->InitBuffer(xQueue, 2, TILE * sizeof(float));
        pipe->InitBuffer(yQueue, 2, TILE * sizeof(int8_t));
        pipe->InitBuffer(halfBuf, TILE * sizeof(half));
    }
    __aicore__ inline void Process() {
        for (uint32_t done = 0; done < length; done += TILE) {
            const uint32_t n = length - done < TILE ? length - done : TILE;
            CopyIn(done, n);
            Compute(n);
            CopyOut(done, n);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t done, uint32_t n) {
        LocalTensor<float> x = xQueue.AllocTensor<float>();
        DataCopyPad(x, xGm[done], DataCopyExtParams{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0},
                    DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
        xQueue.EnQue(x);
    }
    __aicore__ inline void Compute(uint32_t n) {
        LocalTensor<float> x = xQueue.DeQue<float>();
        LocalTensor<half> narrow = halfBuf.Get<half>();
        LocalTensor<int8_t> y = yQueue.AllocTensor<int8_t>();
        Muls(x, x, 8.0f, n);
        Maxs(x, x, -128.0f, n);
        Mins(x, x, 127.0f, n);
        Cast(narrow, x, RoundMode::CAST_RINT, n);
        Cast(y, narrow, RoundMode::CAST_RINT, n);
        xQueue.FreeTensor(x);
        yQueue.EnQue(y);
    }
    __aicore__ inline void CopyOut(uint32_t done, uint32_t n) {
        LocalTensor<int8_t> y = yQueue.DeQue<int8_t>();
        DataCopyPad(yGm[done], y, DataCopyExtParams{1, static_cast<uint32_t>(n), 0, 0, 0});
        yQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 1> xQueue;
    TQue<QuePosition::VECOUT, 1> yQueue;
    TBuf<TPosition::VECCALC> halfBuf;
    GlobalTensor<float> xGm;
    GlobalTensor<int8_t> yGm;
    uint32_t length;
};

extern "C" __global__ __aicore__ void quantize_bytes(GM_ADDR x, GM_ADDR y, uint32_t total) {
    TPipe pipe;
    QuantizeBytes op;
    op.Init(x, y, total, &pipe);
    op.Process();
}
