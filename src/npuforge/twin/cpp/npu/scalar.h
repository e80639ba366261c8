// SPDX-License-Identifier: Apache-2.0
// Scalar helpers: bits, conversions, limits, and the builtins device code uses without a namespace.
#pragma once
#include <bit>
#include <cmath>

#include "tensor.h"

using float32_t = float;

// Hints to the branch predictor, as device code spells them.
#ifndef likely
#define likely(x) (__builtin_expect(!!(x), 1))
#define unlikely(x) (__builtin_expect(!!(x), 0))
#endif

// Device code calls these without a namespace, with operands of one or of two types.
using std::abs;
using std::sqrt;
template <typename A, typename B> constexpr std::common_type_t<A, B> min(A a, B b) { return b < a ? b : a; }
template <typename A, typename B> constexpr std::common_type_t<A, B> max(A a, B b) { return a < b ? b : a; }
inline half min(half a, half b) { return float(b) < float(a) ? b : a; }
inline half max(half a, half b) { return float(a) < float(b) ? b : a; }

inline int64_t clz(uint64_t value) { return std::countl_zero(value); }
inline int64_t bcnt0(uint64_t value) { return 64 - std::popcount(value); }
inline int64_t bcnt1(uint64_t value) { return std::popcount(value); }
inline int64_t sff0(uint64_t value) { return value == ~0ull ? -1 : std::countr_one(value); }
inline int64_t sff1(uint64_t value) { return value == 0 ? -1 : std::countr_zero(value); }
inline uint64_t sbitset0(uint64_t value, int64_t bit) { return value & ~(1ull << bit); }
inline uint64_t sbitset1(uint64_t value, int64_t bit) { return value | (1ull << bit); }

namespace AscendC {

// Sizes the framework names.
inline constexpr int32_t BYTE_PER_DATABLOCK = 32, ONE_BLK_HALF_NUM = 16, ONE_BLK_FLOAT_NUM = 8, ONE_BYTE_BIT_SIZE = 8;
inline constexpr int32_t BRCB_BROADCAST_NUMBER = 8, BRCB_MAX_REPEAT_SIZE = 254;
inline constexpr int32_t B64_BYTE_SIZE = 8, B32_BYTE_SIZE = 4, B16_BYTE_SIZE = 2, B8_BYTE_SIZE = 1;
inline constexpr int32_t ONE_REPEAT_FLOAT_SIZE = 64, ONE_REPEAT_HALF_SIZE = 128;
inline constexpr int32_t B16_DATA_NUM_PER_BLOCK = 16, B32_DATA_NUM_PER_BLOCK = 8;
inline constexpr int32_t B16_DATA_NUM_PER_REPEAT = 128, B32_DATA_NUM_PER_REPEAT = 64;
inline constexpr uint32_t TOTAL_UB_SIZE = 192 * 1024, TOTAL_L1_SIZE = 512 * 1024;

template <int countValue> inline int64_t GetBitCount(uint64_t valueIn) { return countValue == 1 ? bcnt1(valueIn) : bcnt0(valueIn); }
template <int countValue> inline int64_t ScalarGetCountOfValue(uint64_t valueIn) { return GetBitCount<countValue>(valueIn); }
inline int64_t CountLeadingZero(uint64_t valueIn) { return clz(valueIn); }
inline int64_t ScalarCountLeadingZero(uint64_t valueIn) { return clz(valueIn); }
inline int64_t CountBitsCntSameAsSignBit(int64_t valueIn) {
    const auto bits = static_cast<uint64_t>(valueIn < 0 ? ~valueIn : valueIn);
    return std::countl_zero(bits) - 1;
}
template <int countValue> inline int64_t GetSFFValue(uint64_t valueIn) { return countValue == 1 ? sff1(valueIn) : sff0(valueIn); }
template <int countValue> inline int64_t ScalarGetSFFValue(uint64_t valueIn) { return GetSFFValue<countValue>(valueIn); }

namespace internal {
inline float RoundTo(float value, RoundMode mode) {
    switch (mode) {
        case RoundMode::CAST_FLOOR: return std::floor(value);
        case RoundMode::CAST_CEIL: return std::ceil(value);
        case RoundMode::CAST_ROUND: return std::round(value);
        case RoundMode::CAST_TRUNC: return std::trunc(value);
        default: return std::nearbyint(value);
    }
}
// The number of the 16-bit type next to `value` in the direction of the mode.
template <typename T> T NarrowTo(float value, RoundMode mode) {
    const T nearest(value);
    const float back = nearest;
    if (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT || back == value || !std::isfinite(value)) return nearest;
    const bool down = mode == RoundMode::CAST_FLOOR || (mode == RoundMode::CAST_TRUNC && value > 0);
    const bool up = mode == RoundMode::CAST_CEIL || (mode == RoundMode::CAST_TRUNC && value < 0);
    const uint16_t bits = nearest.bits();
    const bool negative = bits >> 15;
    if (down && back > value) return T::from_bits(static_cast<uint16_t>(negative ? bits + 1 : (bits == 0 ? 0x8001 : bits - 1)));
    if (up && back < value) return T::from_bits(static_cast<uint16_t>(negative ? (bits == 0x8000 ? 0x0001 : bits - 1) : bits + 1));
    return nearest;
}
}  // namespace internal

template <typename T, typename U, RoundMode roundMode> inline U ScalarCast(T valueIn) {
    static_assert(std::is_same_v<T, float> && (std::is_same_v<U, half> || std::is_same_v<U, int32_t>),
                  "[DTY-20] ScalarCast goes from float to half or int32_t");
    if constexpr (std::is_same_v<U, half>) {
        return internal::NarrowTo<half>(valueIn, roundMode);
    } else {
        const float whole = internal::RoundTo(valueIn, roundMode);
        if (std::isnan(whole)) return 0;
        if (whole >= 2147483648.0f) return INT32_MAX;
        if (whole < -2147483648.0f) return INT32_MIN;
        return static_cast<int32_t>(whole);
    }
}
template <typename T, typename U, RoundMode roundMode> inline U Cast(T valueIn) { return ScalarCast<T, U, roundMode>(valueIn); }
inline bfloat16_t Cast(const float& fVal) { return bfloat16_t(fVal); }
inline float Cast(const bfloat16_t& bVal) { return static_cast<float>(bVal); }
inline float ToFloat(const bfloat16_t& bVal) { return static_cast<float>(bVal); }
inline bfloat16_t ToBfloat16(const float& fVal) { return bfloat16_t(fVal); }

template <typename T, typename U> constexpr T CeilDivision(T num1, U num2) {
    return num2 == 0 ? 0 : static_cast<T>((num1 + num2 - 1) / num2);
}
constexpr int32_t DivCeil(int32_t a, int32_t b) { return b == 0 ? 0 : (a + b - 1) / b; }
constexpr uint32_t AlignUp(uint32_t a, uint32_t b) { return b == 0 ? 0 : (a + b - 1) / b * b; }
template <int count = 1> inline void Nop() {}

template <typename T> struct NumericLimits {
    static constexpr T Max() { return Bits(0x7fu, 0x7fffu, 0x7bffu, 0x7f7fu, 0x7fffffffu, 0x7f7fffffu, ~0ull); }
    static constexpr T Lowest() { return Bits(0x80u, 0x8000u, 0xfbffu, 0xff7fu, 0x80000000u, 0xff7fffffu, 0); }
    static constexpr T Min() { return Bits(0x80u, 0x8000u, 0x0400u, 0x0080u, 0x80000000u, 0x00800000u, 0); }
    static constexpr T Infinity() { return Bits(0, 0, 0x7c00u, 0x7f80u, 0, 0x7f800000u, 0); }
    static constexpr T NegativeInfinity() { return Bits(0, 0, 0xfc00u, 0xff80u, 0, 0xff800000u, 0); }
    static constexpr T QuietNaN() { return Bits(0, 0, 0x7e00u, 0x7fc0u, 0, 0x7fc00000u, 0); }
    static constexpr T SignalingNaN() { return Bits(0, 0, 0x7d00u, 0x7fa0u, 0, 0x7fa00000u, 0); }
    static constexpr T DeNormMin() { return Bits(0, 0, 1, 1, 0, 1, 0); }

private:
    static constexpr T Bits(uint8_t i8, uint16_t i16, uint16_t f16, uint16_t bf16, uint32_t i32, uint32_t f32, uint64_t u) {
        if constexpr (std::is_unsigned_v<T>) return static_cast<T>(u);
        else if constexpr (std::is_same_v<T, int8_t>) return __builtin_bit_cast(T, i8);
        else if constexpr (std::is_same_v<T, int16_t>) return __builtin_bit_cast(T, i16);
        else if constexpr (std::is_same_v<T, half>) return __builtin_bit_cast(T, f16);
        else if constexpr (std::is_same_v<T, bfloat16_t>) return __builtin_bit_cast(T, bf16);
        else if constexpr (std::is_same_v<T, int32_t>) return __builtin_bit_cast(T, i32);
        else return __builtin_bit_cast(T, f32);
    }
};

}  // namespace AscendC
