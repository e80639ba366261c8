// SPDX-License-Identifier: Apache-2.0
// dst = a - floor(a / b) * b, the remainder with the sign of b. dst may be a or b. Digits are lost as a / b grows,
// because the quotient is rounded.
__aicore__ inline void Fp32FloorMod(const LocalTensor<float>& dst, const LocalTensor<float>& a,
                                    const LocalTensor<float>& b, int32_t n, const LocalTensor<uint8_t>& work)
{
    const LocalTensor<float> quotient = work.ReinterpretCast<float>();
    Div(quotient, a, b, n);
    Cast(quotient, quotient, RoundMode::CAST_FLOOR, static_cast<uint32_t>(n));
    Mul(quotient, quotient, b, n);
    Sub(dst, a, quotient, n);
}
