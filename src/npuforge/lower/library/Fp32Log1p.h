// SPDX-License-Identifier: Apache-2.0
// dst = log(1 + src). dst may be src. Below 0.5 as 2 atanh(s) with s = x / (2 + x), whose series starts with s:
// adding 1 first would lose the low digits of small x.
__aicore__ inline void Fp32Log1p(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                                 const LocalTensor<uint8_t>& work)
{
    n = (n + 7) / 8 * 8;  // whole blocks, whose pad lanes are defined: no byte of a mask is half defined
    const int32_t part = (n + 63) / 64 * 64;
    const LocalTensor<float> small = work.ReinterpretCast<float>();
    const LocalTensor<float> large = small[part];
    const LocalTensor<float> ratio = large[part];
    const LocalTensor<float> square = ratio[part];
    Adds(ratio, src, 2.0f, n);
    Adds(large, src, 1.0f, n);
    Div(ratio, src, ratio, n);
    Ln(large, large, n);
    Mul(square, ratio, ratio, n);
    Fp32Horner(small, square, n, 1.220651980e-01f, 1.069662934e-01f, 1.431036065e-01f, 1.999934547e-01f,
               3.333333965e-01f, 9.999999999e-01f);
    Mul(small, small, ratio, n);
    Abs(square, src, n);
    Muls(small, small, 2.0f, n);
    Fp32SelectLess(dst, square, 0.5f, small, large, n, square[part].ReinterpretCast<uint8_t>());
}
