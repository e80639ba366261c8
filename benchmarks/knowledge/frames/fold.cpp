// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t BATCH = @BATCH@;

// One number for each row: rows come in batches, results go out in one copy a batch.
class Op {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rowCount, uint32_t rowWidth, TPipe* pipe) {
        width = rowWidth;
        pitch = (width + 7) / 8 * 8;
        uint32_t share = (rowCount + GetBlockNum() - 1) / GetBlockNum();
        share = (share + 7) / 8 * 8;
        uint32_t first = share * GetBlockIdx();
        rows = first >= rowCount ? 0 : (rowCount - first < share ? rowCount - first : share);
        xGm.SetGlobalBuffer((__gm__ float*)x + first * width, rows * width);
        yGm.SetGlobalBuffer((__gm__ @U@*)y + first, rows);
        pipe->InitBuffer(inX, @DEPTH@, BATCH * pitch * sizeof(float));
        pipe->InitBuffer(outY, @DEPTH@, @OUTBYTES@);
        @INIT@
    }
    __aicore__ inline void Process() {
        for (uint32_t row = 0; row < rows; row += BATCH) {
            uint32_t n = rows - row < BATCH ? rows - row : BATCH;
            CopyIn(row, n);
            Compute(n);
            CopyOut(row, n);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t row, uint32_t n) {
        LocalTensor<float> x = inX.AllocTensor<float>();
        DataCopyExtParams copy{static_cast<uint16_t>(n), static_cast<uint32_t>(width * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> pad{true, 0, static_cast<uint8_t>(pitch - width), @PAD@};
        DataCopyPad(x, xGm[row * width], copy, pad);
        inX.EnQue(x);
    }
    __aicore__ inline void Compute(uint32_t n) {
        LocalTensor<float> x = inX.DeQue<float>();
        LocalTensor<@U@> y = outY.AllocTensor<@U@>();
        @BODY@
        outY.EnQue(y);
        inX.FreeTensor(x);
    }
    __aicore__ inline void CopyOut(uint32_t row, uint32_t n) {
        LocalTensor<@U@> y = outY.DeQue<@U@>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(@U@)), 0, 0, 0};
        DataCopyPad(yGm[row], y, copy);
        outY.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 1> inX;
    TQue<QuePosition::VECOUT, 1> outY;
    @MEMBERS@
    GlobalTensor<float> xGm;
    GlobalTensor<@U@> yGm;
    uint32_t rows, width, pitch;
};

extern "C" __global__ __aicore__ void op(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t width) {
    TPipe pipe;
    Op op;
    op.Init(x, y, rows, width, &pipe);
    op.Process();
}
