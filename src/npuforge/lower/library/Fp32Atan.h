// SPDX-License-Identifier: Apache-2.0
// dst = atan(src). dst may be src. For |x| > 1 as pi/2 - atan(1/|x|); min(|x|, 1) / max(|x|, 1) is the argument in
// both cases. The sign comes from src last.
__aicore__ inline void Fp32Atan(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                                const LocalTensor<uint8_t>& work)
{
    n = (n + 7) / 8 * 8;  // whole blocks, whose pad lanes are defined: no byte of a mask is half defined
    const int32_t part = (n + 63) / 64 * 64;
    const LocalTensor<float> size = work.ReinterpretCast<float>();
    const LocalTensor<float> ratio = size[part];
    const LocalTensor<float> square = ratio[part];
    const LocalTensor<float> large = square[part];
    Abs(size, src, n);
    Mins(ratio, size, 1.0f, n);
    Maxs(square, size, 1.0f, n);
    Div(ratio, ratio, square, n);
    Mul(square, ratio, ratio, n);
    Fp32Horner(large, square, n, -1.753838144e-03f, 1.072653077e-02f, -3.080382384e-02f, 5.755132209e-02f,
               -8.377269624e-02f, 1.094201486e-01f, -1.426193004e-01f, 1.999826574e-01f, -3.333328363e-01f,
               9.999999976e-01f);
    Mul(ratio, large, ratio, n);
    Muls(large, ratio, -1.0f, n);
    Adds(large, large, 1.57079632679f, n);
    Fp32SelectLess(ratio, size, 1.0f, ratio, large, n, large[part].ReinterpretCast<uint8_t>());
    Fp32Sign(size, src, n);
    Mul(dst, ratio, size, n);
}
