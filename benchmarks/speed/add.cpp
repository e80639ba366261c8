// SPDX-License-Identifier: Apache-2.0
// z = x + y in tiles of 32 KB, as a kernel for large tensors cuts them; every block takes an equal share.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t kTile = 8192;

extern "C" __global__ __aicore__ void large_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total) {
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> left, right;
    TQue<QuePosition::VECOUT, 1> sums;
    pipe.InitBuffer(left, 2, kTile * sizeof(float));
    pipe.InitBuffer(right, 2, kTile * sizeof(float));
    pipe.InitBuffer(sums, 1, kTile * sizeof(float));
    const uint32_t share = total / GetBlockNum(), start = share * GetBlockIdx();
    GlobalTensor<float> gx, gy, gz;
    gx.SetGlobalBuffer((__gm__ float*)x + start, share);
    gy.SetGlobalBuffer((__gm__ float*)y + start, share);
    gz.SetGlobalBuffer((__gm__ float*)z + start, share);
    for (uint32_t at = 0; at < share; at += kTile) {
        LocalTensor<float> a = left.AllocTensor<float>(), b = right.AllocTensor<float>();
        DataCopy(a, gx[at], kTile);
        DataCopy(b, gy[at], kTile);
        left.EnQue(a);
        right.EnQue(b);
        a = left.DeQue<float>();
        b = right.DeQue<float>();
        LocalTensor<float> c = sums.AllocTensor<float>();
        Add(c, a, b, static_cast<int32_t>(kTile));
        sums.EnQue(c);
        left.FreeTensor(a);
        right.FreeTensor(b);
        c = sums.DeQue<float>();
        DataCopy(gz[at], c, kTile);
        sums.FreeTensor(c);
    }
}
