// SPDX-License-Identifier: Apache-2.0
// y = 2x of every other row of x[32, 64], scaled within rows by s[8] (Brcb, repeats with strides).
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t ROWS = 16;
constexpr uint32_t WIDTH = 64;

class Strided {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR s, GM_ADDR y, TPipe* pipe) {
        xGm.SetGlobalBuffer((__gm__ float*)x + ROWS * 2 * WIDTH * GetBlockIdx(), ROWS * 2 * WIDTH);
        sGm.SetGlobalBuffer((__gm__ float*)s, 8);
        yGm.SetGlobalBuffer((__gm__ float*)y + ROWS * WIDTH * GetBlockIdx(), ROWS * WIDTH);
        pipe->InitBuffer(inX, 1, ROWS * WIDTH * sizeof(float));
        pipe->InitBuffer(inS, 1, 32);
        pipe->InitBuffer(outY, 1, ROWS * WIDTH * sizeof(float));
        pipe->InitBuffer(wide, 8 * 32);
    }
    __aicore__ inline void Process() {
        LocalTensor<float> x = inX.AllocTensor<float>();
        LocalTensor<float> s = inS.AllocTensor<float>();
        // Every other row of x: rows of 8 blocks, 8 blocks apart.
        DataCopyParams rows{ROWS, 8, 8, 0};
        DataCopy(x, xGm, rows);
        DataCopy(s, sGm, 8);
        inX.EnQue(x);
        inS.EnQue(s);
        x = inX.DeQue<float>();
        s = inS.DeQue<float>();
        LocalTensor<float> y = outY.AllocTensor<float>();
        LocalTensor<float> scale = wide.Get<float>();
        uint8_t repeats = ROWS;
        uint64_t lanes = WIDTH;
        Muls(y, x, 2.0f, lanes, repeats, UnaryRepeatParams(1, 1, 8, 8));
        Brcb(scale, s, 1, {1, 8});
        Mul(y, y, scale, lanes, repeats, BinaryRepeatParams(1, 1, 1, 8, 8, 0));
        inX.FreeTensor(x);
        inS.FreeTensor(s);
        outY.EnQue(y);
        y = outY.DeQue<float>();
        DataCopy(yGm, y, ROWS * WIDTH);
        outY.FreeTensor(y);
    }

private:
    TQue<QuePosition::VECIN, 1> inX, inS;
    TQue<QuePosition::VECOUT, 1> outY;
    TBuf<TPosition::VECCALC> wide;
    GlobalTensor<float> xGm, sGm, yGm;
};

extern "C" __global__ __aicore__ void strided(GM_ADDR x, GM_ADDR s, GM_ADDR y) {
    TPipe pipe;
    Strided op;
    op.Init(x, s, y, &pipe);
    op.Process();
}
