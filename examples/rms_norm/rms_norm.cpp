// SPDX-License-Identifier: Apache-2.0
// y = x / sqrt(mean(x * x) + eps) * gamma, row by row; a row fits in the unified buffer.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t DEPTH = 2;  // two buffers per queue: the next row loads while this one computes

class RowNorm {
public:
    __aicore__ inline void Init(TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR y, uint32_t rows, uint32_t width,
                                float eps)
    {
        width_ = width;
        eps_ = eps;
        const uint32_t perBlock = (rows + GetBlockNum() - 1) / GetBlockNum();
        const uint32_t first = GetBlockIdx() * perBlock;
        rows_ = first >= rows ? 0 : (first + perBlock > rows ? rows - first : perBlock);
        padded_ = (width + 7) / 8 * 8;
        xGm_.SetGlobalBuffer((__gm__ float*)x + first * width);
        yGm_.SetGlobalBuffer((__gm__ float*)y + first * width);
        gammaGm_.SetGlobalBuffer((__gm__ float*)gamma, width);
        pipe->InitBuffer(inQueue_, DEPTH, padded_ * sizeof(float));
        pipe->InitBuffer(outQueue_, DEPTH, padded_ * sizeof(float));
        pipe->InitBuffer(gammaQueue_, 1, padded_ * sizeof(float));
        pipe->InitBuffer(squares_, padded_ * sizeof(float));
        pipe->InitBuffer(sum_, 32);
        pipe->InitBuffer(work_, padded_ * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        if (rows_ == 0) {
            return;
        }
        LocalTensor<float> gamma = gammaQueue_.AllocTensor<float>();
        Load(gamma, gammaGm_);
        gammaQueue_.EnQue(gamma);
        gamma = gammaQueue_.DeQue<float>();
        for (uint32_t row = 0; row < rows_; ++row) {
            CopyIn(row);
            Compute(gamma);
            CopyOut(row);
        }
        gammaQueue_.FreeTensor(gamma);
    }

private:
    __aicore__ inline void Load(const LocalTensor<float>& to, const GlobalTensor<float>& from)
    {
        // The row's end is padded with zeros, so that the sum over whole blocks is the row's sum.
        DataCopyExtParams copy{1, static_cast<uint32_t>(width_ * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> pad{true, 0, static_cast<uint8_t>(padded_ - width_), 0.0f};
        DataCopyPad(to, from, copy, pad);
    }

    __aicore__ inline void CopyIn(uint32_t row)
    {
        LocalTensor<float> x = inQueue_.AllocTensor<float>();
        Load(x, xGm_[row * width_]);
        inQueue_.EnQue(x);
    }

    __aicore__ inline void Compute(const LocalTensor<float>& gamma)
    {
        LocalTensor<float> x = inQueue_.DeQue<float>();
        LocalTensor<float> y = outQueue_.AllocTensor<float>();
        LocalTensor<float> squares = squares_.Get<float>();
        LocalTensor<float> sum = sum_.Get<float>();
        LocalTensor<float> work = work_.Get<float>();
        Mul(squares, x, x, padded_);
        ReduceSum(sum, squares, work, padded_);
        Muls(sum, sum, 1.0f / static_cast<int32_t>(width_), 1);
        Adds(sum, sum, eps_, 1);
        Sqrt(sum, sum, 1);
        const float scale = 1.0f / sum.GetValue(0);
        Muls(y, x, scale, padded_);
        Mul(y, y, gamma, padded_);
        outQueue_.EnQue(y);
        inQueue_.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint32_t row)
    {
        LocalTensor<float> y = outQueue_.DeQue<float>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(width_ * sizeof(float)), 0, 0, 0};
        DataCopyPad(yGm_[row * width_], y, copy);
        outQueue_.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, DEPTH> inQueue_;
    TQue<QuePosition::VECIN, 1> gammaQueue_;
    TQue<QuePosition::VECOUT, DEPTH> outQueue_;
    TBuf<QuePosition::VECCALC> squares_, sum_, work_;
    GlobalTensor<float> xGm_, gammaGm_, yGm_;
    uint32_t rows_, width_, padded_;
    float eps_;
};

extern "C" __global__ __aicore__ void rms_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, uint32_t rows, uint32_t width,
                                               float eps)
{
    TPipe pipe;
    RowNorm op;
    op.Init(&pipe, x, gamma, y, rows, width, eps);
    op.Process();
}
