// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = @TILE@;
constexpr uint32_t SLOT = 8;  // floats in 32 bytes

// The sum of x: every core leaves its part in the workspace, all meet, core 0 adds the parts.
class Op {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, uint32_t total, TPipe* pipe) {
        cores = GetBlockNum();
        uint32_t share = (total + cores - 1) / cores;
        share = (share + 127) / 128 * 128;
        uint32_t start = share * GetBlockIdx();
        length = start >= total ? 0 : (total - start < share ? total - start : share);
        xGm.SetGlobalBuffer((__gm__ float*)x + start, length);
        yGm.SetGlobalBuffer((__gm__ float*)y, 1);
        parts.SetGlobalBuffer((__gm__ float*)workspace, cores * SLOT);
        pipe->InitBuffer(inX, 2, TILE * sizeof(float));
        pipe->InitBuffer(outY, 1, SLOT * sizeof(float));
        pipe->InitBuffer(inParts, 1, cores * SLOT * sizeof(float));
        pipe->InitBuffer(sumBuf, TILE * sizeof(float));
        pipe->InitBuffer(workBuf, TILE * sizeof(float));
    }
    __aicore__ inline void Process() {
        LocalTensor<float> sum = sumBuf.Get<float>();
        LocalTensor<float> work = workBuf.Get<float>();
        Duplicate(sum, 0.0f, TILE);
        for (uint32_t at = 0; at < length; at += TILE) {
            uint32_t count = length - at < TILE ? length - at : TILE;
            LocalTensor<float> x = inX.AllocTensor<float>();
            DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
            DataCopyPad(x, xGm[at], copy, DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
            inX.EnQue(x);
            x = inX.DeQue<float>();
            Add(sum, sum, x, count);
            inX.FreeTensor(x);
        }
        LocalTensor<float> part = outY.AllocTensor<float>();
        Duplicate(part, 0.0f, SLOT);
        ReduceSum(part, sum, work, TILE);
        outY.EnQue(part);
        part = outY.DeQue<float>();
        DataCopy(parts[GetBlockIdx() * SLOT], part, SLOT);
        outY.FreeTensor(part);
        SyncAll();
        if (GetBlockIdx() == 0) {
            LocalTensor<float> all = inParts.AllocTensor<float>();
            DataCopy(all, parts, cores * SLOT);
            inParts.EnQue(all);
            all = inParts.DeQue<float>();
            LocalTensor<float> result = outY.AllocTensor<float>();
            ReduceSum(result, all, work, cores * SLOT);
            inParts.FreeTensor(all);
            outY.EnQue(result);
            result = outY.DeQue<float>();
            DataCopyPad(yGm, result, DataCopyExtParams{1, sizeof(float), 0, 0, 0});
            outY.FreeTensor(result);
        }
    }

private:
    TQue<QuePosition::VECIN, 1> inX, inParts;
    TQue<QuePosition::VECOUT, 1> outY;
    TBuf<TPosition::VECCALC> sumBuf, workBuf;
    GlobalTensor<float> xGm, yGm, parts;
    uint32_t cores, length;
};

extern "C" __global__ __aicore__ void op(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, uint32_t total) {
    TPipe pipe;
    Op op;
    op.Init(x, y, workspace, total, &pipe);
    op.Process();
}
