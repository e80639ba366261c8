// SPDX-License-Identifier: Apache-2.0
// dst = exp(src) - 1. dst may be src. Below 0.5 src times a polynomial, because the subtraction cancels there.
__aicore__ inline void Fp32Expm1(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                                 const LocalTensor<uint8_t>& work)
{
    n = (n + 7) / 8 * 8;  // whole blocks, whose pad lanes are defined: no byte of a mask is half defined
    const int32_t part = (n + 63) / 64 * 64;
    const LocalTensor<float> small = work.ReinterpretCast<float>();
    const LocalTensor<float> large = small[part];
    const LocalTensor<float> size = large[part];
    Exp(large, src, n);
    Abs(size, src, n);
    Adds(large, large, -1.0f, n);
    Fp32Horner(small, src, n, 2.480146687e-05f, 1.997897513e-04f, 1.388927648e-03f, 8.333119079e-03f,
               4.166666023e-02f, 1.666666773e-01f, 5.000000002e-01f, 9.999999999e-01f);
    Mul(small, small, src, n);
    Fp32SelectLess(dst, size, 0.5f, small, large, n, size[part].ReinterpretCast<uint8_t>());
}
