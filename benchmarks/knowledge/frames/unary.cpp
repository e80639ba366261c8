// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = @TILE@;
@GLOBAL@
class Op {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t total, TPipe* pipe) {
        uint32_t share = (total + GetBlockNum() - 1) / GetBlockNum();
        share = (share + 127) / 128 * 128;
        uint32_t start = share * GetBlockIdx();
        length = start >= total ? 0 : (total - start < share ? total - start : share);
        xGm.SetGlobalBuffer((__gm__ @T@*)x + start, length);
        yGm.SetGlobalBuffer((__gm__ @U@*)y + start, length);
        pipe->InitBuffer(inX, @DEPTH@, TILE * sizeof(@T@));
        pipe->InitBuffer(outY, @DEPTH@, TILE * sizeof(@U@));
        @INIT@
    }
    __aicore__ inline void Process() {
        for (uint32_t at = 0; at < length; at += TILE) {
            uint32_t count = length - at < TILE ? length - at : TILE;
            CopyIn(at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t at, uint32_t count) {
        LocalTensor<@T@> x = inX.AllocTensor<@T@>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(@T@)), 0, 0, 0};
        DataCopyPadExtParams<@T@> pad{false, 0, 0, @T@(0)};
        DataCopyPad(x, xGm[at], copy, pad);
        inX.EnQue(x);
    }
    __aicore__ inline void Compute(uint32_t count) {
        LocalTensor<@T@> x = inX.DeQue<@T@>();
        LocalTensor<@U@> y = outY.AllocTensor<@U@>();
        @BODY@
        outY.EnQue(y);
        inX.FreeTensor(x);
    }
    __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
        LocalTensor<@U@> y = outY.DeQue<@U@>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(@U@)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outY.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 1> inX;
    TQue<QuePosition::VECOUT, 1> outY;
    @MEMBERS@
    GlobalTensor<@T@> xGm;
    GlobalTensor<@U@> yGm;
    uint32_t length;
};

extern "C" __global__ __aicore__ void op(GM_ADDR x, GM_ADDR y, uint32_t total) {
    TPipe pipe;
    Op op;
    op.Init(x, y, total, &pipe);
    op.Process();
}
