// SPDX-License-Identifier: Apache-2.0
// dst = sinh(src). dst may be src. Below 1 an odd polynomial; above, half of exp(|x|) minus half of its inverse, from
// exp(|x| / 2) so that nothing overflows before the result, with the sign of src.
__aicore__ inline void Fp32Sinh(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                                const LocalTensor<uint8_t>& work)
{
    n = (n + 7) / 8 * 8;  // whole blocks, whose pad lanes are defined: no byte of a mask is half defined
    const int32_t part = (n + 63) / 64 * 64;
    const LocalTensor<float> size = work.ReinterpretCast<float>();
    const LocalTensor<float> small = size[part];
    const LocalTensor<float> large = small[part];
    const LocalTensor<float> square = large[part];
    Abs(size, src, n);
    Duplicate(square, -0.25f, n);
    Muls(small, size, 0.5f, n);
    Exp(small, small, n);
    Muls(large, small, 0.5f, n);
    Mul(large, large, small, n);
    Div(square, square, large, n);
    Add(large, large, square, n);
    Mins(small, src, 1.0f, n);
    Maxs(small, small, -1.0f, n);  // the sign, where it matters
    Mul(square, src, src, n);
    Mul(large, large, small, n);
    Fp32Horner(small, square, n, 2.818523926e-06f, 1.983581245e-04f, 8.333352593e-03f, 1.666666643e-01f, 1.0f);
    Mul(small, small, src, n);
    Fp32SelectLess(dst, size, 1.0f, small, large, n, square[part].ReinterpretCast<uint8_t>());
}
