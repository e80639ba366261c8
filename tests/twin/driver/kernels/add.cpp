// SPDX-License-Identifier: Apache-2.0
// z = x + y in tiles of 2048 floats; every block takes an equal share.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t kTile = 2048;

class Adder {
public:
    __aicore__ inline void Init(TPipe* pipe, GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total)
    {
        share_ = total / GetBlockNum();
        const uint32_t start = share_ * GetBlockIdx();
        x_.SetGlobalBuffer((__gm__ float*)x + start, share_);
        y_.SetGlobalBuffer((__gm__ float*)y + start, share_);
        z_.SetGlobalBuffer((__gm__ float*)z + start, share_);
        pipe->InitBuffer(xs_, 2, kTile * sizeof(float));
        pipe->InitBuffer(ys_, 2, kTile * sizeof(float));
        pipe->InitBuffer(zs_, 2, kTile * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < share_ / kTile; ++i) {
            LocalTensor<float> a = xs_.AllocTensor<float>();
            LocalTensor<float> b = ys_.AllocTensor<float>();
            DataCopy(a, x_[i * kTile], kTile);
            DataCopy(b, y_[i * kTile], kTile);
            xs_.EnQue(a);
            ys_.EnQue(b);
            a = xs_.DeQue<float>();
            b = ys_.DeQue<float>();
            LocalTensor<float> c = zs_.AllocTensor<float>();
            Add(c, a, b, kTile);
            zs_.EnQue(c);
            xs_.FreeTensor(a);
            ys_.FreeTensor(b);
            c = zs_.DeQue<float>();
            DataCopy(z_[i * kTile], c, kTile);
            zs_.FreeTensor(c);
        }
    }

private:
    TQue<QuePosition::VECIN, 2> xs_, ys_;
    TQue<QuePosition::VECOUT, 2> zs_;
    GlobalTensor<float> x_, y_, z_;
    uint32_t share_ = 0;
};

extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total)
{
    TPipe pipe;
    Adder op;
    op.Init(&pipe, x, y, z, total);
    op.Process();
}
