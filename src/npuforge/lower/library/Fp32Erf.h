// SPDX-License-Identifier: Apache-2.0
// dst = erf(src). dst may be src. Below 1 an odd polynomial; above, 1 - exp(-x^2) q(x) with a polynomial q, |x| cut
// at 4 where the result is 1 to the last digit, and the sign of src.
__aicore__ inline void Fp32Erf(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                               const LocalTensor<uint8_t>& work)
{
    n = (n + 7) / 8 * 8;  // whole blocks, whose pad lanes are defined: no byte of a mask is half defined
    const int32_t part = (n + 63) / 64 * 64;
    const LocalTensor<float> size = work.ReinterpretCast<float>();
    const LocalTensor<float> square = size[part];
    const LocalTensor<float> small = square[part];
    const LocalTensor<float> large = small[part];
    Abs(size, src, n);
    Mins(size, size, 4.0f, n);
    Mul(square, size, size, n);
    Muls(small, square, -1.0f, n);
    Exp(small, small, n);
    Fp32Horner(large, size, n, -3.888751314e-04f, 6.005013218e-03f, -4.099757687e-02f, 1.641319580e-01f,
               -4.316767850e-01f, 7.925920203e-01f, -1.048209148e+00f, 9.861269341e-01f);
    Mul(large, large, small, n);
    Muls(large, large, -1.0f, n);
    Mins(small, src, 1.0f, n);
    Adds(large, large, 1.0f, n);
    Maxs(small, small, -1.0f, n);  // the sign, where it matters
    Mul(large, large, small, n);
    Fp32Horner(small, square, n, -9.641518711e-06f, 1.125694918e-04f, -8.482829077e-04f, 5.220945453e-03f,
               -2.686540005e-02f, 1.128378197e-01f, -3.761263843e-01f, 1.128379167e+00f);
    Mul(small, small, src, n);
    Fp32SelectLess(dst, size, 1.0f, small, large, n, large[part].ReinterpretCast<uint8_t>());
}
