// SPDX-License-Identifier: Apache-2.0
// dst = 2 to the power src. dst may be src. The integral part goes to the exponent bits, so the rounding of
// src * ln 2 counts for the fraction only. Results below the smallest normal number are 0.
__aicore__ inline void Fp32Exp2(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                                const LocalTensor<uint8_t>& work)
{
    const int32_t part = (n + 7) / 8 * 8;
    const LocalTensor<float> whole = work.ReinterpretCast<float>();
    const LocalTensor<float> fraction = whole[part];
    const LocalTensor<int32_t> bits = whole.ReinterpretCast<int32_t>();
    Mins(fraction, src, 128.0f, n);
    Maxs(fraction, fraction, -127.0f, n);
    Cast(whole, fraction, RoundMode::CAST_RINT, static_cast<uint32_t>(n));
    Sub(fraction, fraction, whole, n);
    Cast(bits, whole, RoundMode::CAST_RINT, static_cast<uint32_t>(n));
    Muls(fraction, fraction, 0.69314718056f, n);
    Adds(bits, bits, 127, n);
    Exp(fraction, fraction, n);
    ShiftLeft(bits, bits, 23, n);
    Mul(dst, fraction, whole, n);
}
