// SPDX-License-Identifier: Apache-2.0
// dst = tanh(src). dst may be src. Below 0.625 an odd polynomial (relative error 4e-9 before rounding), above
// 1 - 2 / (exp(2 x) + 1), which loses nothing there and goes to 1 and -1 by itself.
__aicore__ inline void Fp32Tanh(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                                const LocalTensor<uint8_t>& work)
{
    n = (n + 7) / 8 * 8;  // whole blocks, whose pad lanes are defined: no byte of a mask is half defined
    const int32_t part = (n + 63) / 64 * 64;
    const LocalTensor<float> square = work.ReinterpretCast<float>();
    const LocalTensor<float> small = square[part];
    const LocalTensor<float> large = small[part];
    Mul(square, src, src, n);
    Muls(large, src, 2.0f, n);
    Duplicate(small, -2.0f, n);
    Exp(large, large, n);
    Adds(large, large, 1.0f, n);
    Div(large, small, large, n);
    Adds(large, large, 1.0f, n);
    Fp32Horner(small, square, n, -5.659972736e-03f, 2.059097240e-02f, -5.372106256e-02f, 1.333112746e-01f,
               -3.333326052e-01f, 9.999999961e-01f);
    Mul(small, small, src, n);
    Fp32SelectLess(dst, square, 0.625f * 0.625f, small, large, n, large[part].ReinterpretCast<uint8_t>());
}
