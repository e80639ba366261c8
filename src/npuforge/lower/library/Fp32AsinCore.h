// SPDX-License-Identifier: Apache-2.0
// core = asin(|x|) for |x| < 0.5, asin(sqrt((1 - |x|) / 2)) otherwise: both have an argument of at most 0.5, where
// one polynomial serves. size = |x|, both of capacity for align(n, 64) elements. Beyond 1 core is NaN.
__aicore__ inline void Fp32AsinCore(const LocalTensor<float>& core, const LocalTensor<float>& size,
                                    const LocalTensor<float>& src, int32_t n, const LocalTensor<uint8_t>& work)
{
    const int32_t part = (n + 63) / 64 * 64;
    const LocalTensor<float> square = work.ReinterpretCast<float>();
    const LocalTensor<float> other = square[part];
    const LocalTensor<uint8_t> bits = other[part].ReinterpretCast<uint8_t>();
    Abs(size, src, n);
    Mul(square, size, size, n);
    Muls(other, size, -0.5f, n);
    Adds(other, other, 0.5f, n);
    Fp32SelectLess(square, size, 0.5f, square, other, n, bits);
    Sqrt(other, square, n);
    Fp32Horner(core, square, n, 3.788535397e-02f, 1.413966311e-02f, 3.190075591e-02f, 4.450309286e-02f,
               7.500604062e-02f, 1.666665695e-01f, 1.0f);
    Select(other, bits, size, other, SELMODE::VSEL_TENSOR_TENSOR_MODE, static_cast<uint32_t>(n));
    Mul(core, core, other, n);
}
