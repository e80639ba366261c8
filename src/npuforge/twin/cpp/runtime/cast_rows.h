// SPDX-License-Identifier: Apache-2.0
// Conversions of rows with a rounding mode. Numbers that do not fit are clipped, NaN becomes integer 0;
// half and bfloat16 overflow to infinity where the rounding mode leads there (as IEEE 754 has it).
#pragma once
#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "half_rows.h"
#include "vec_math.h"

namespace npuforge {

// The order of AscendC::RoundMode. None rounds to nearest where a rounding is needed.
enum class Rounding : int { None, Rint, Floor, Ceil, Round, Trunc, Odd };

// Calls fn with the mode as a compile-time constant; Odd is left to the functions that know it.
template <typename Fn> void with_rounding(Rounding mode, Fn fn) {
    switch (mode) {
        case Rounding::Floor: return fn(std::integral_constant<Rounding, Rounding::Floor>{});
        case Rounding::Ceil: return fn(std::integral_constant<Rounding, Rounding::Ceil>{});
        case Rounding::Round: return fn(std::integral_constant<Rounding, Rounding::Round>{});
        case Rounding::Trunc: return fn(std::integral_constant<Rounding, Rounding::Trunc>{});
        case Rounding::Odd: return fn(std::integral_constant<Rounding, Rounding::Odd>{});
        default: return fn(std::integral_constant<Rounding, Rounding::Rint>{});
    }
}

// To an integral value. Round moves ties away from zero: the summand is just below one half, so that
// numbers just below a tie do not reach it.
template <Rounding mode> float to_integral(float x) {
    if constexpr (mode == Rounding::Floor) return __builtin_floorf(x);
    else if constexpr (mode == Rounding::Ceil) return __builtin_ceilf(x);
    else if constexpr (mode == Rounding::Trunc) return __builtin_truncf(x);
    else if constexpr (mode == Rounding::Round) return __builtin_truncf(x + __builtin_copysignf(0.49999997f, x));
    else return __builtin_rintf(x);
}

template <typename D, Rounding mode> D float_to_int(float x) {
    const float defined = x == x ? x : 0.0f;
    const float whole = to_integral<mode>(defined);
    if constexpr (sizeof(D) < 4) {
        constexpr auto lowest = static_cast<float>(std::numeric_limits<D>::min());
        constexpr auto largest = static_cast<float>(std::numeric_limits<D>::max());
        const float below = whole > largest ? largest : whole;
        return static_cast<D>(static_cast<int32_t>(below < lowest ? lowest : below));
    } else {
        // The largest integer is no float: its successor is.
        constexpr float limit = sizeof(D) == 4 ? 2147483648.0f : 9223372036854775808.0f;
        const bool over = whole >= limit, under = whole <= -limit;
        const float inside = over || under ? 0.0f : whole;
        const D value = static_cast<D>(inside);
        return over ? std::numeric_limits<D>::max() : (under ? std::numeric_limits<D>::min() : value);
    }
}

// magnitude / 2^drop, rounded. `drop` is at most 62.
template <Rounding mode> uint64_t drop_bits(uint64_t magnitude, uint32_t drop, bool negative) {
    const uint64_t kept = magnitude >> drop;
    const uint64_t rest = magnitude & ((uint64_t(1) << drop) - 1);
    const uint64_t tie = drop == 0 ? 1 : uint64_t(1) << (drop - 1);
    bool up;
    if constexpr (mode == Rounding::Floor) up = negative && rest != 0;
    else if constexpr (mode == Rounding::Ceil) up = !negative && rest != 0;
    else if constexpr (mode == Rounding::Round) up = rest >= tie;
    else if constexpr (mode == Rounding::Trunc) up = false;
    else if constexpr (mode == Rounding::Odd) up = rest != 0 && (kept & 1) == 0;
    else up = rest > tie || (rest == tie && (kept & 1) != 0);
    return kept + (up ? 1 : 0);
}

template <Rounding mode> uint16_t float_to_half_rounded(float value) {
    const uint32_t bits = float_to_bits(value);
    const bool negative = (bits >> 31) != 0;
    const uint32_t sign = negative ? 0x8000u : 0;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
    if (magnitude == 0x7f800000u) return static_cast<uint16_t>(sign | 0x7c00u);
    if (magnitude >= 0x47800000u) {  // 65536 and above
        constexpr bool nearest = mode == Rounding::Rint || mode == Rounding::Round;
        const bool outward = (mode == Rounding::Floor && negative) || (mode == Rounding::Ceil && !negative);
        return static_cast<uint16_t>(sign | (nearest || outward ? 0x7c00u : 0x7bffu));
    }
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    const bool normal = exponent >= -14;
    // Below the smallest subnormal only the sticky bits matter, so the shift may stop there.
    const uint32_t drop = normal ? 13u : std::min(40u, static_cast<uint32_t>(13 - 14 - exponent));
    const uint32_t significand = magnitude >= 0x00800000u ? (magnitude & 0x7fffffu) | 0x800000u : magnitude;
    const uint32_t base = normal ? static_cast<uint32_t>(exponent + 14) << 10 : 0;
    return static_cast<uint16_t>(sign | (base + static_cast<uint32_t>(drop_bits<mode>(significand, drop, negative))));
}

template <Rounding mode> uint16_t float_to_bf16_rounded(float value) {
    const uint32_t bits = float_to_bits(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const auto rounded = static_cast<uint32_t>(drop_bits<mode>(magnitude, 16, (bits >> 31) != 0));
    return static_cast<uint16_t>(sign | (magnitude > 0x7f800000u ? (magnitude >> 16) | 0x40u : rounded));
}

// Integers with more than 24 bits are rounded.
template <Rounding mode> float int_to_float(int64_t value) {
    const bool negative = value < 0;
    const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    const int bits = 64 - std::countl_zero(magnitude);
    const uint32_t drop = bits > 24 ? static_cast<uint32_t>(bits - 24) : 0;
    const auto kept = static_cast<float>(drop_bits<mode>(magnitude, drop, negative));
    const float result = kept * bits_to_float((drop + 127u) << 23);
    return negative ? -result : result;
}

template <typename D> void cast_half_to_int(D* to, const uint16_t* from, uint32_t n, Rounding mode) {
    float x[kChunk];
    with_rounding(mode, [&](auto rounding) {
        for (uint32_t start = 0; start < n; start += kChunk) {
            const uint32_t m = std::min(kChunk, n - start);
            widen_half(x, from + start, m);
#pragma GCC ivdep
            for (uint32_t i = 0; i < m; ++i) to[start + i] = float_to_int<D, decltype(rounding)::value>(x[i]);
        }
    });
}

}  // namespace npuforge
