// SPDX-License-Identifier: Apache-2.0
// y = x - mean(x): each core puts its sum into the workspace, all meet, each reads all sums.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t SHARE = 1024;
constexpr uint32_t SLOT = 8;

class TwoPhase {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, TPipe* pipe) {
        cores = GetBlockNum();
        xGm.SetGlobalBuffer((__gm__ float*)x + SHARE * GetBlockIdx(), SHARE);
        yGm.SetGlobalBuffer((__gm__ float*)y + SHARE * GetBlockIdx(), SHARE);
        sums.SetGlobalBuffer((__gm__ float*)workspace, cores * SLOT);
        pipe->InitBuffer(inX, 1, SHARE * sizeof(float));
        pipe->InitBuffer(outSum, 1, SLOT * sizeof(float));
        pipe->InitBuffer(inSums, 1, cores * SLOT * sizeof(float));
        pipe->InitBuffer(outY, 1, SHARE * sizeof(float));
        pipe->InitBuffer(work, 256);
    }
    __aicore__ inline void Process() {
        LocalTensor<float> x = inX.AllocTensor<float>();
        DataCopy(x, xGm, SHARE);
        inX.EnQue(x);
        x = inX.DeQue<float>();
        LocalTensor<float> sum = outSum.AllocTensor<float>();
        LocalTensor<float> tmp = work.Get<float>();
        Duplicate(sum, 0.0f, SLOT);
        ReduceSum(sum, x, tmp, SHARE);
        outSum.EnQue(sum);
        sum = outSum.DeQue<float>();
        DataCopy(sums[GetBlockIdx() * SLOT], sum, SLOT);
        outSum.FreeTensor(sum);
        SyncAll();
        LocalTensor<float> all = inSums.AllocTensor<float>();
        DataCopy(all, sums, cores * SLOT);
        inSums.EnQue(all);
        all = inSums.DeQue<float>();
        ReduceSum(all, all, tmp, cores * SLOT);
        float mean = all.GetValue(0) / (SHARE * cores);
        LocalTensor<float> y = outY.AllocTensor<float>();
        Adds(y, x, -mean, SHARE);
        inSums.FreeTensor(all);
        inX.FreeTensor(x);
        outY.EnQue(y);
        y = outY.DeQue<float>();
        DataCopy(yGm, y, SHARE);
        outY.FreeTensor(y);
    }

private:
    TQue<QuePosition::VECIN, 1> inX, inSums;
    TQue<QuePosition::VECOUT, 1> outSum, outY;
    TBuf<TPosition::VECCALC> work;
    GlobalTensor<float> xGm, yGm, sums;
    uint32_t cores;
};

extern "C" __global__ __aicore__ void two_phase(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
    TPipe pipe;
    TwoPhase op;
    op.Init(x, y, workspace, &pipe);
    op.Process();
}
