// SPDX-License-Identifier: Apache-2.0
// dst = 1 / (1 + exp(-src)). dst may be src. Div, because Reciprocal is good for 1e-4 only.
__aicore__ inline void Fp32Sigmoid(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                                   const LocalTensor<uint8_t>& work)
{
    const LocalTensor<float> one = work.ReinterpretCast<float>();
    Muls(dst, src, -1.0f, n);
    Duplicate(one, 1.0f, n);
    Exp(dst, dst, n);
    Adds(dst, dst, 1.0f, n);
    Div(dst, one, dst, n);
}
