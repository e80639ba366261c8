// SPDX-License-Identifier: Apache-2.0
// quotient and remainder of int32, floored (remainder has the sign of divisor) or truncated (of dividend), exact; the
// outputs are not inputs. No integer division exists: two float quotients (the second of what the first left), made a
// little too small so that nothing overflows, come within one of the truth; a mask made of sign bits adds the one.
// Not for divisor 0 and -2^31.
__aicore__ inline void Int32DivMod(const LocalTensor<int32_t>& quotient, const LocalTensor<int32_t>& remainder,
                                   const LocalTensor<int32_t>& dividend, const LocalTensor<int32_t>& divisor, int32_t n,
                                   bool floored, const LocalTensor<uint8_t>& work)
{
    const int32_t part = (n + 7) / 8 * 8;
    constexpr float below = 1.0f - 4.76837158e-07f;  // 1 - 2^-21: more than four roundings
    const LocalTensor<int32_t> positive = work.ReinterpretCast<int32_t>();  // |divisor|
    const LocalTensor<int32_t> mask = positive[part];
    const LocalTensor<int32_t> step = mask[part];
    const LocalTensor<float> ratio = step.ReinterpretCast<float>();
    const LocalTensor<float> scale = mask.ReinterpretCast<float>();
    const LocalTensor<uint16_t> maskWords = mask.ReinterpretCast<uint16_t>();
    const LocalTensor<uint16_t> stepWords = step.ReinterpretCast<uint16_t>();
    const LocalTensor<uint16_t> positiveWords = positive.ReinterpretCast<uint16_t>();
    Muls(positive, divisor, -1, n);
    Muls(remainder, dividend, -1, n);
    Duplicate(quotient, 0, n);
    Max(positive, positive, divisor, n);
    Max(remainder, remainder, dividend, n);
    for (int32_t round = 0; round < 2; ++round) {
        Cast(ratio, remainder, RoundMode::CAST_RINT, static_cast<uint32_t>(n));
        Cast(scale, positive, RoundMode::CAST_RINT, static_cast<uint32_t>(n));
        Div(ratio, ratio, scale, n);
        Muls(ratio, ratio, below, n);
        Cast(step, ratio, RoundMode::CAST_FLOOR, static_cast<uint32_t>(n));
        Add(quotient, quotient, step, n);
        Mul(step, step, positive, n);
        Sub(remainder, remainder, step, n);
    }
    // one too few: remainder >= |divisor|
    Sub(step, remainder, positive, n);
    ShiftRight(mask, step, 31, n);
    Not(maskWords, maskWords, 2 * n);
    And(stepWords, maskWords, positiveWords, 2 * n);
    Sub(quotient, quotient, mask, n);
    Sub(remainder, remainder, step, n);
    // signs: 2 (x >> 31) + 1 is 1 or -1
    ShiftRight(mask, dividend, 31, n);
    ShiftRight(step, divisor, 31, n);
    Muls(mask, mask, 2, n);
    Muls(step, step, 2, n);
    Adds(mask, mask, 1, n);
    Adds(step, step, 1, n);
    Mul(remainder, remainder, mask, n);
    Mul(quotient, quotient, mask, n);
    Mul(quotient, quotient, step, n);
    if (!floored) {
        return;
    }
    // remainder * sign of divisor < 0: one further down
    Mul(step, step, remainder, n);
    ShiftRight(mask, step, 31, n);
    Add(quotient, quotient, mask, n);
    And(stepWords, maskWords, divisor.ReinterpretCast<uint16_t>(), 2 * n);
    Add(remainder, remainder, step, n);
}
