// SPDX-License-Identifier: Apache-2.0
// The dot product of two vectors: partial sums in the workspace, added by the first core.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t SHARE = 1024;
constexpr uint32_t SLOT = 8;
constexpr uint32_t CORES = 4;

class DotPartials {
public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR y, GM_ADDR workspace, TPipe* pipe) {
        aGm.SetGlobalBuffer((__gm__ float*)a + SHARE * GetBlockIdx(), SHARE);
        bGm.SetGlobalBuffer((__gm__ float*)b + SHARE * GetBlockIdx(), SHARE);
        yGm.SetGlobalBuffer((__gm__ float*)y, 1);
        partsGm.SetGlobalBuffer((__gm__ float*)workspace, SLOT * CORES);
        pipe->InitBuffer(aQueue, 1, SHARE * sizeof(float));
        pipe->InitBuffer(bQueue, 1, SHARE * sizeof(float));
        pipe->InitBuffer(partQueue, 1, SLOT * sizeof(float));
        pipe->InitBuffer(allQueue, 1, SLOT * CORES * sizeof(float));
        pipe->InitBuffer(resultQueue, 1, 32);
        pipe->InitBuffer(workBuf, 512);
    }
    __aicore__ inline void Process() {
        LocalTensor<float> work = workBuf.Get<float>();
        LocalTensor<float> a = aQueue.AllocTensor<float>();
        LocalTensor<float> b = bQueue.AllocTensor<float>();
        DataCopy(a, aGm, SHARE);
        DataCopy(b, bGm, SHARE);
        aQueue.EnQue(a);
        bQueue.EnQue(b);
        a = aQueue.DeQue<float>();
        b = bQueue.DeQue<float>();
        LocalTensor<float> part = partQueue.AllocTensor<float>();
        Duplicate(part, 0.0f, SLOT);
        Mul(a, a, b, SHARE);
        ReduceSum(part, a, work, SHARE);
        aQueue.FreeTensor(a);
        bQueue.FreeTensor(b);
        partQueue.EnQue(part);
        part = partQueue.DeQue<float>();
        DataCopy(partsGm[SLOT * GetBlockIdx()], part, SLOT);
        partQueue.FreeTensor(part);
        SyncAll();
        if (GetBlockIdx() == 0) {
            Finish(work);
        }
    }

private:
    __aicore__ inline void Finish(const LocalTensor<float>& work) {
        LocalTensor<float> all = allQueue.AllocTensor<float>();
        DataCopy(all, partsGm, SLOT * CORES);
        allQueue.EnQue(all);
        all = allQueue.DeQue<float>();
        LocalTensor<float> result = resultQueue.AllocTensor<float>();
        ReduceSum(result, all, work, SLOT * CORES);
        allQueue.FreeTensor(all);
        resultQueue.EnQue(result);
        result = resultQueue.DeQue<float>();
        DataCopyPad(yGm, result, DataCopyExtParams{1, sizeof(float), 0, 0, 0});
        resultQueue.FreeTensor(result);
    }

    TQue<QuePosition::VECIN, 1> aQueue, bQueue, allQueue;
    TQue<QuePosition::VECOUT, 1> partQueue, resultQueue;
    TBuf<TPosition::VECCALC> workBuf;
    GlobalTensor<float> aGm, bGm, yGm, partsGm;
};

extern "C" __global__ __aicore__ void dot_partials(GM_ADDR a, GM_ADDR b, GM_ADDR y, GM_ADDR workspace) {
    TPipe pipe;
    DotPartials op;
    op.Init(a, b, y, workspace, &pipe);
    op.Process();
}
