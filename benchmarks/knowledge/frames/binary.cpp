// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = @TILE@;

class Op {
public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR z, uint32_t total, TPipe* pipe) {
        uint32_t share = (total + GetBlockNum() - 1) / GetBlockNum();
        share = (share + 127) / 128 * 128;
        uint32_t start = share * GetBlockIdx();
        length = start >= total ? 0 : (total - start < share ? total - start : share);
        aGm.SetGlobalBuffer((__gm__ @T@*)a + start, length);
        bGm.SetGlobalBuffer((__gm__ @T@*)b + start, length);
        zGm.SetGlobalBuffer((__gm__ @U@*)z + start, length);
        pipe->InitBuffer(inA, @DEPTH@, TILE * sizeof(@T@));
        pipe->InitBuffer(inB, @DEPTH@, TILE * sizeof(@T@));
        pipe->InitBuffer(outZ, @DEPTH@, TILE * sizeof(@U@));
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
        LocalTensor<@T@> a = inA.AllocTensor<@T@>();
        LocalTensor<@T@> b = inB.AllocTensor<@T@>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(@T@)), 0, 0, 0};
        DataCopyPadExtParams<@T@> pad{false, 0, 0, @T@(0)};
        DataCopyPad(a, aGm[at], copy, pad);
        DataCopyPad(b, bGm[at], copy, pad);
        inA.EnQue(a);
        inB.EnQue(b);
    }
    __aicore__ inline void Compute(uint32_t count) {
        LocalTensor<@T@> a = inA.DeQue<@T@>();
        LocalTensor<@T@> b = inB.DeQue<@T@>();
        LocalTensor<@U@> z = outZ.AllocTensor<@U@>();
        @BODY@
        outZ.EnQue(z);
        inA.FreeTensor(a);
        inB.FreeTensor(b);
    }
    __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
        LocalTensor<@U@> z = outZ.DeQue<@U@>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(@U@)), 0, 0, 0};
        DataCopyPad(zGm[at], z, copy);
        outZ.FreeTensor(z);
    }

    TQue<QuePosition::VECIN, 1> inA, inB;
    TQue<QuePosition::VECOUT, 1> outZ;
    @MEMBERS@
    GlobalTensor<@T@> aGm, bGm;
    GlobalTensor<@U@> zGm;
    uint32_t length;
};

extern "C" __global__ __aicore__ void op(GM_ADDR a, GM_ADDR b, GM_ADDR z, uint32_t total) {
    TPipe pipe;
    Op op;
    op.Init(a, b, z, total, &pipe);
    op.Process();
}
