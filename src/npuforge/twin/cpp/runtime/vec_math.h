// SPDX-License-Identifier: Apache-2.0
// Functions of one float, written so that a loop over them becomes vector code: no branches, no calls.
// Accuracy: Exp and Ln within 1 ulp, the rest correctly rounded or (Rsqrt) within 1 ulp. Real hardware is
// coarser for Reciprocal and Rsqrt (rule VEC-19); nothing here imitates its error.
#pragma once
#include <cstdint>
#include <limits>

#include "../npu/types.h"

namespace npuforge {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// x = n ln2 + r with |r| <= ln2 / 2; e^r by its series; 2^n in two factors so that results below the
// smallest normal number are rounded once.
inline float exp_f32(float x) {
    constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    const float high = x > 89.0f ? 89.0f : x;
    const bool vanishes = high < -104.0f;
    const float v = vanishes ? 0.0f : high;  // not -104: arithmetic on subnormal numbers is slow
    const float shifted = __builtin_fmaf(v, 1.44269504f, kShift);
    const int32_t n = static_cast<int32_t>(float_to_bits(shifted) - 0x4b400000u);
    const float whole = shifted - kShift;
    float r = __builtin_fmaf(whole, -0.693359375f, v);
    r = __builtin_fmaf(whole, 2.12194440e-4f, r);
    float p = 1.0f / 5040.0f;
    p = __builtin_fmaf(p, r, 1.0f / 720.0f);
    p = __builtin_fmaf(p, r, 1.0f / 120.0f);
    p = __builtin_fmaf(p, r, 1.0f / 24.0f);
    p = __builtin_fmaf(p, r, 1.0f / 6.0f);
    p = __builtin_fmaf(p, r, 0.5f);
    p = __builtin_fmaf(p, r * r, r) + 1.0f;
    const int32_t first = n >> 1, second = n - first;
    const float scale0 = bits_to_float(static_cast<uint32_t>(first + 127) << 23);
    const float scale1 = bits_to_float(static_cast<uint32_t>(second + 127) << 23);
    const float result = p * scale0 * scale1;
    return x != x ? x : (vanishes ? 0.0f : result);
}

// x = 2^e m with m near 1; ln m = 2 atanh(s), s = f / (2 + f), f = m - 1.
inline float ln_f32(float x) {
    const bool tiny = x < 1.17549435e-38f;
    const float v = tiny ? x * 8388608.0f : x;
    const uint32_t bits = float_to_bits(v) - 0x3f3504f3u;  // sqrt(1/2) starts an octave
    const int32_t e = (static_cast<int32_t>(bits) >> 23) - (tiny ? 23 : 0);
    const float f = bits_to_float((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    const float s = f / (2.0f + f);
    const float z = s * s;
    float q = 2.0f / 9.0f;
    q = __builtin_fmaf(q, z, 2.0f / 7.0f);
    q = __builtin_fmaf(q, z, 2.0f / 5.0f);
    q = __builtin_fmaf(q, z, 2.0f / 3.0f);
    q = q * z;
    const float half_square = 0.5f * f * f;
    const float k = static_cast<float>(e);
    const float low = __builtin_fmaf(s, half_square + q, k * -2.12194440e-4f);
    float result = __builtin_fmaf(k, 0.693359375f, f - (half_square - low));
    result = x == kInfinity ? x : result;
    result = x == 0.0f ? -kInfinity : result;
    return x < 0.0f ? kNaN : (x != x ? x : result);
}

// NaN in either operand gives NaN.
inline float max_f32(float a, float b) {
    const float larger = a > b ? a : b;
    return a != a ? a : larger;
}
inline float min_f32(float a, float b) {
    const float smaller = a < b ? a : b;
    return a != a ? a : smaller;
}
inline float relu_f32(float x) {
    const float positive = x > 0.0f ? x : 0.0f;
    return x != x ? x : positive;
}

}  // namespace npuforge
