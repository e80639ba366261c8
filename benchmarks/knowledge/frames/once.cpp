// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = @N@;
constexpr uint32_t M = @M@;
@GLOBAL@
// Every core takes N elements of x and leaves M elements of y.
class Op {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, TPipe* pipe) {
        xGm.SetGlobalBuffer((__gm__ @T@*)x + N * GetBlockIdx(), N);
        yGm.SetGlobalBuffer((__gm__ @U@*)y + M * GetBlockIdx(), M);
        pipe->InitBuffer(inX, 1, N * sizeof(@T@));
        pipe->InitBuffer(outY, 1, M * sizeof(@U@));
        @INIT@
    }
    __aicore__ inline void Process() {
        LocalTensor<@T@> x = inX.AllocTensor<@T@>();
        DataCopy(x, xGm, N);
        inX.EnQue(x);
        x = inX.DeQue<@T@>();
        LocalTensor<@U@> y = outY.AllocTensor<@U@>();
        @BODY@
        inX.FreeTensor(x);
        outY.EnQue(y);
        y = outY.DeQue<@U@>();
        DataCopy(yGm, y, M);
        outY.FreeTensor(y);
    }

private:
    TQue<QuePosition::VECIN, 1> inX;
    TQue<QuePosition::VECOUT, 1> outY;
    @MEMBERS@
    GlobalTensor<@T@> xGm;
    GlobalTensor<@U@> yGm;
};

extern "C" __global__ __aicore__ void op(GM_ADDR x, GM_ADDR y) {
    TPipe pipe;
    Op op;
    op.Init(x, y, &pipe);
    op.Process();
}
