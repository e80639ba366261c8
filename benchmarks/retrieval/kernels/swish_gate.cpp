// SPDX-License-Identifier: Apache-2.0
// y = a * b * sigmoid(b), any length, in the manner of a language model.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t TILE_LENGTH = 512;

class KernelSwishGate {
public:
    __aicore__ inline KernelSwishGate() {}
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR y, uint32_t totalLength) {
        uint32_t share = (totalLength + GetBlockNum() - 1) / GetBlockNum();
        share = (share + 7) / 8 * 8;
        uint32_t offset = share * GetBlockIdx();
        this->blockLength = offset >= totalLength ? 0 : (totalLength - offset < share ? totalLength - offset : share);
        this->tileNum = (this->blockLength + TILE_LENGTH - 1) / TILE_LENGTH;
        aGm.SetGlobalBuffer((__gm__ float*)a + offset, this->blockLength);
        bGm.SetGlobalBuffer((__gm__ float*)b + offset, this->blockLength);
        yGm.SetGlobalBuffer((__gm__ float*)y + offset, this->blockLength);
        pipe.InitBuffer(inQueueA, BUFFER_NUM, TILE_LENGTH * sizeof(float));
        pipe.InitBuffer(inQueueB, BUFFER_NUM, TILE_LENGTH * sizeof(float));
        pipe.InitBuffer(outQueueY, BUFFER_NUM, TILE_LENGTH * sizeof(float));
        pipe.InitBuffer(tmpBuf, TILE_LENGTH * sizeof(float));
    }
    __aicore__ inline void Process() {
        for (uint32_t i = 0; i < this->tileNum; i++) {
            uint32_t rest = this->blockLength - i * TILE_LENGTH;
            uint32_t length = rest < TILE_LENGTH ? rest : TILE_LENGTH;
            CopyIn(i, length);
            Compute(length);
            CopyOut(i, length);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t progress, uint32_t length) {
        LocalTensor<float> aLocal = inQueueA.AllocTensor<float>();
        LocalTensor<float> bLocal = inQueueB.AllocTensor<float>();
        DataCopyExtParams copyParams{1, static_cast<uint32_t>(length * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> padParams{false, 0, 0, 0.0f};
        DataCopyPad(aLocal, aGm[progress * TILE_LENGTH], copyParams, padParams);
        DataCopyPad(bLocal, bGm[progress * TILE_LENGTH], copyParams, padParams);
        inQueueA.EnQue(aLocal);
        inQueueB.EnQue(bLocal);
    }
    __aicore__ inline void Compute(uint32_t length) {
        LocalTensor<float> aLocal = inQueueA.DeQue<float>();
        LocalTensor<float> bLocal = inQueueB.DeQue<float>();
        LocalTensor<float> yLocal = outQueueY.AllocTensor<float>();
        LocalTensor<float> tmp = tmpBuf.Get<float>();
        Muls(tmp, bLocal, -1.0f, length);
        Exp(tmp, tmp, length);
        Adds(tmp, tmp, 1.0f, length);
        Mul(yLocal, aLocal, bLocal, length);
        Div(yLocal, yLocal, tmp, length);
        outQueueY.EnQue<float>(yLocal);
        inQueueA.FreeTensor(aLocal);
        inQueueB.FreeTensor(bLocal);
    }
    __aicore__ inline void CopyOut(uint32_t progress, uint32_t length) {
        LocalTensor<float> yLocal = outQueueY.DeQue<float>();
        DataCopyExtParams copyParams{1, static_cast<uint32_t>(length * sizeof(float)), 0, 0, 0};
        DataCopyPad(yGm[progress * TILE_LENGTH], yLocal, copyParams);
        outQueueY.FreeTensor(yLocal);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> inQueueA, inQueueB;
    TQue<QuePosition::VECOUT, BUFFER_NUM> outQueueY;
    TBuf<QuePosition::VECCALC> tmpBuf;
    GlobalTensor<float> aGm, bGm, yGm;
    uint32_t blockLength;
    uint32_t tileNum;
};

extern "C" __global__ __aicore__ void swish_gate(GM_ADDR a, GM_ADDR b, GM_ADDR y, uint32_t totalLength) {
    KernelSwishGate op;
    op.Init(a, b, y, totalLength);
    op.Process();
}
