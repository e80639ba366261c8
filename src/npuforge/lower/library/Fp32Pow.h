// SPDX-License-Identifier: Apache-2.0
// dst = base to the power exponent. dst may be either. exp(e ln|b|), relative error about |e ln b| times that of one
// operation. A negative finite base takes the sign of an odd exponent and gives NaN for a fractional one; exponent 0
// gives 1 whatever the base, and so does base 1 or -1 with an infinite exponent: those count as even, as all
// floats from 2^24 on are.
__aicore__ inline void Fp32Pow(const LocalTensor<float>& dst, const LocalTensor<float>& base,
                               const LocalTensor<float>& exponent, int32_t n, const LocalTensor<uint8_t>& work)
{
    n = (n + 7) / 8 * 8;  // whole blocks, whose pad lanes are defined: no byte of a mask is half defined
    const int32_t part = (n + 63) / 64 * 64;
    const LocalTensor<float> power = work.ReinterpretCast<float>();
    const LocalTensor<float> sign = power[part];
    const LocalTensor<float> lower = sign[part];
    const LocalTensor<float> limited = lower[part];
    const LocalTensor<uint8_t> bits = limited[part].ReinterpretCast<uint8_t>();
    constexpr float even = 16777216.0f;
    const uint32_t whole = static_cast<uint32_t>(part);
    // sign of a negative base: 1 - 2 (e mod 2)
    Mins(limited, exponent, even, n);
    Abs(power, base, n);
    Maxs(limited, limited, -even, n);
    Ln(power, power, n);
    Muls(lower, limited, 0.5f, n);
    Mul(sign, power, exponent, n);
    Cast(lower, lower, RoundMode::CAST_FLOOR, static_cast<uint32_t>(n));
    CompareScalar(bits, power, 0.0f, CMPMODE::NE, whole);  // zero times infinity is no power of one
    Select(power, bits, sign, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, static_cast<uint32_t>(n));
    Muls(sign, lower, -2.0f, n);
    Exp(power, power, n);
    Add(sign, sign, limited, n);
    Muls(sign, sign, -2.0f, n);
    Adds(sign, sign, 1.0f, n);
    Cast(lower, limited, RoundMode::CAST_FLOOR, static_cast<uint32_t>(n));
    Mul(sign, sign, power, n);
    Sub(lower, limited, lower, n);
    // a fraction makes it NaN, by the root of the reciprocal, which is 0 for an infinite base
    CompareScalar(bits, lower, 0.0f, CMPMODE::EQ, whole);
    Duplicate(lower, 1.0f, n);
    Div(lower, lower, base, n);
    Sqrt(lower, lower, n);
    Add(lower, lower, power, n);
    Select(sign, bits, sign, lower, SELMODE::VSEL_TENSOR_TENSOR_MODE, static_cast<uint32_t>(n));
    Muls(lower, base, 1.0f, n);
    CompareScalar(bits, lower, 0.0f, CMPMODE::LT, whole);
    Select(power, bits, sign, power, SELMODE::VSEL_TENSOR_TENSOR_MODE, static_cast<uint32_t>(n));
    Muls(lower, exponent, 1.0f, n);
    CompareScalar(bits, lower, 0.0f, CMPMODE::NE, whole);
    Select(dst, bits, power, 1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, static_cast<uint32_t>(n));
}
