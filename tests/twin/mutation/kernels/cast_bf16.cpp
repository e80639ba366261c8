// SPDX-License-Identifier: Apache-2.0
// y = x * x for bfloat16, computed in float.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 512;

class CastBf16 {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t total, TPipe* pipe) {
        length = total / GetBlockNum();
        xGm.SetGlobalBuffer((__gm__ bfloat16_t*)x + length * GetBlockIdx(), length);
        yGm.SetGlobalBuffer((__gm__ bfloat16_t*)y + length * GetBlockIdx(), length);
        pipe->InitBuffer(inX, 2, TILE * sizeof(bfloat16_t));
        pipe->InitBuffer(outY, 2, TILE * sizeof(bfloat16_t));
        pipe->InitBuffer(wide, TILE * sizeof(float));
    }
    __aicore__ inline void Process() {
        for (uint32_t i = 0; i < length / TILE; ++i) {
            LocalTensor<bfloat16_t> x = inX.AllocTensor<bfloat16_t>();
            DataCopy(x, xGm[i * TILE], TILE);
            inX.EnQue(x);
            x = inX.DeQue<bfloat16_t>();
            LocalTensor<bfloat16_t> y = outY.AllocTensor<bfloat16_t>();
            LocalTensor<float> w = wide.Get<float>();
            Cast(w, x, RoundMode::CAST_NONE, TILE);
            Mul(w, w, w, TILE);
            Cast(y, w, RoundMode::CAST_RINT, TILE);
            inX.FreeTensor(x);
            outY.EnQue(y);
            y = outY.DeQue<bfloat16_t>();
            DataCopy(yGm[i * TILE], y, TILE);
            outY.FreeTensor(y);
        }
    }

private:
    TQue<QuePosition::VECIN, 1> inX;
    TQue<QuePosition::VECOUT, 1> outY;
    TBuf<TPosition::VECCALC> wide;
    GlobalTensor<bfloat16_t> xGm, yGm;
    uint32_t length;
};

extern "C" __global__ __aicore__ void cast_bf16(GM_ADDR x, GM_ADDR y, uint32_t total) {
    TPipe pipe;
    CastBf16 op;
    op.Init(x, y, total, &pipe);
    op.Process();
}
