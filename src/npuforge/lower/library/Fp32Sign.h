// SPDX-License-Identifier: Apache-2.0
// dst = 1, 0 or -1, the sign of src. dst may be src. Two multiplications carry every non-zero number beyond 1.
__aicore__ inline void Fp32Sign(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n)
{
    constexpr float huge = 8.507059173e+37f;  // 2^126
    Muls(dst, src, huge, n);
    Muls(dst, dst, huge, n);
    Mins(dst, dst, 1.0f, n);
    Maxs(dst, dst, -1.0f, n);
}
