// SPDX-License-Identifier: Apache-2.0
// dst = tan(src) = sin / cos. dst may be src.
__aicore__ inline void Fp32Tan(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                               const LocalTensor<uint8_t>& work)
{
    const LocalTensor<float> cosine = work.ReinterpretCast<float>();
    const LocalTensor<uint8_t> rest = work[(n + 7) / 8 * 32];
    Fp32Cos(cosine, src, n, rest);
    Fp32Sin(dst, src, n, rest);
    Div(dst, dst, cosine, n);
}
