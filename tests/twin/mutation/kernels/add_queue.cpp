// SPDX-License-Identifier: Apache-2.0
// z = x + y, double-buffered queues.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 1024;

class AddQueue {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total, TPipe* pipe) {
        length = total / GetBlockNum();
        xGm.SetGlobalBuffer((__gm__ float*)x + length * GetBlockIdx(), length);
        yGm.SetGlobalBuffer((__gm__ float*)y + length * GetBlockIdx(), length);
        zGm.SetGlobalBuffer((__gm__ float*)z + length * GetBlockIdx(), length);
        pipe->InitBuffer(inX, 2, TILE * sizeof(float));
        pipe->InitBuffer(inY, 2, TILE * sizeof(float));
        pipe->InitBuffer(outZ, 2, TILE * sizeof(float));
    }
    __aicore__ inline void Process() {
        for (uint32_t i = 0; i < length / TILE; ++i) {
            CopyIn(i);
            Compute();
            CopyOut(i);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t i) {
        LocalTensor<float> x = inX.AllocTensor<float>();
        LocalTensor<float> y = inY.AllocTensor<float>();
        DataCopy(x, xGm[i * TILE], TILE);
        DataCopy(y, yGm[i * TILE], TILE);
        inX.EnQue(x);
        inY.EnQue(y);
    }
    __aicore__ inline void Compute() {
        LocalTensor<float> x = inX.DeQue<float>();
        LocalTensor<float> y = inY.DeQue<float>();
        LocalTensor<float> z = outZ.AllocTensor<float>();
        Add(z, x, y, TILE);
        outZ.EnQue(z);
        inX.FreeTensor(x);
        inY.FreeTensor(y);
    }
    __aicore__ inline void CopyOut(uint32_t i) {
        LocalTensor<float> z = outZ.DeQue<float>();
        DataCopy(zGm[i * TILE], z, TILE);
        outZ.FreeTensor(z);
    }

    TQue<QuePosition::VECIN, 1> inX, inY;
    TQue<QuePosition::VECOUT, 1> outZ;
    GlobalTensor<float> xGm, yGm, zGm;
    uint32_t length;
};

extern "C" __global__ __aicore__ void add_queue(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total) {
    TPipe pipe;
    AddQueue op;
    op.Init(x, y, z, total, &pipe);
    op.Process();
}
