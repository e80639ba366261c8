// SPDX-License-Identifier: Apache-2.0
// Element types of the architecture: half, bfloat16_t, int4b_t, and the run-time tag of each type.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace npuforge {

enum class DType : uint8_t {
    I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64, Bool, I4, C64, Count
};

inline float bits_to_float(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline uint32_t float_to_bits(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float half_bits_to_float(uint16_t h) {
#if defined(__F16C__)
    return _cvtsh_ss(h);
#elif defined(__aarch64__)
    __fp16 value;
    std::memcpy(&value, &h, sizeof value);
    return static_cast<float>(value);
#else
    const uint32_t sign = uint32_t(h & 0x8000u) << 16;
    const uint32_t exponent = (h >> 10) & 0x1fu;
    uint32_t fraction = h & 0x3ffu;
    if (exponent == 31) return bits_to_float(sign | 0x7f800000u | (fraction << 13));
    if (exponent != 0) return bits_to_float(sign | ((exponent + 112) << 23) | (fraction << 13));
    if (fraction == 0) return bits_to_float(sign);
    uint32_t shift = 0;
    while ((fraction & 0x400u) == 0) {
        fraction <<= 1;
        ++shift;
    }
    return bits_to_float(sign | ((113 - shift) << 23) | ((fraction & 0x3ffu) << 13));
#endif
}

// Round to nearest, ties to even; overflow gives infinity.
inline uint16_t float_to_half_bits(float value) {
#if defined(__F16C__)
    return static_cast<uint16_t>(_cvtss_sh(value, 0));
#elif defined(__aarch64__)
    __fp16 narrow = static_cast<__fp16>(value);
    uint16_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    return bits;
#else
    const uint32_t bits = float_to_bits(value);
    const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    if (magnitude >= 0x47800000u) return sign | 0x7c00u;
    if (magnitude < 0x33000001u) return sign;
    const int exponent = int(magnitude >> 23) - 127;
    uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
    int drop = 13;
    uint32_t base = 0;
    if (exponent < -14) {
        drop += -14 - exponent;
    } else {
        base = uint32_t(exponent + 14) << 10;
    }
    const uint32_t kept = fraction >> drop;
    const uint32_t rest = fraction & ((1u << drop) - 1);
    const uint32_t tie = 1u << (drop - 1);
    uint32_t rounded = kept + (rest > tie || (rest == tie && (kept & 1)));
    return static_cast<uint16_t>(sign | (base + rounded));
#endif
}

inline float bf16_bits_to_float(uint16_t b) { return bits_to_float(uint32_t(b) << 16); }

inline uint16_t float_to_bf16_bits(float value) {
    uint32_t bits = float_to_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
    bits += 0x7fffu + ((bits >> 16) & 1u);
    return static_cast<uint16_t>(bits >> 16);
}

}  // namespace npuforge

// Scalars of these types convert freely, as they do in device code; arithmetic happens in float and
// is rounded when it is stored, which is exact for + - * / of half.
class half {
public:
    half() = default;
    template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
    constexpr half(T value) : bits_(encode(static_cast<float>(value))) {}
    operator float() const { return npuforge::half_bits_to_float(bits_); }
    template <typename T> half& operator+=(T other) { return *this = half(float(*this) + float(other)); }
    template <typename T> half& operator-=(T other) { return *this = half(float(*this) - float(other)); }
    template <typename T> half& operator*=(T other) { return *this = half(float(*this) * float(other)); }
    template <typename T> half& operator/=(T other) { return *this = half(float(*this) / float(other)); }
    static half from_bits(uint16_t bits) {
        half h;
        h.bits_ = bits;
        return h;
    }
    uint16_t bits() const { return bits_; }

private:
    // constexpr objects of type half are common in kernels, so the encoder must work in constants.
    static constexpr uint16_t encode(float value) {
        if (!__builtin_is_constant_evaluated()) return npuforge::float_to_half_bits(value);
        const uint32_t bits = __builtin_bit_cast(uint32_t, value);
        const uint32_t sign = (bits >> 16) & 0x8000u;
        const uint32_t magnitude = bits & 0x7fffffffu;
        if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
        if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
        if (magnitude < 0x33000001u) return static_cast<uint16_t>(sign);
        const int exponent = int(magnitude >> 23) - 127;
        const uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
        const int drop = exponent < -14 ? 13 - 14 - exponent : 13;
        const uint32_t base = exponent < -14 ? 0 : uint32_t(exponent + 14) << 10;
        const uint32_t kept = fraction >> drop;
        const uint32_t rest = fraction & ((1u << drop) - 1);
        const uint32_t tie = 1u << (drop - 1);
        return static_cast<uint16_t>(sign | (base + kept + (rest > tie || (rest == tie && (kept & 1)))));
    }
    uint16_t bits_;
};

// half with half or an integer stays half, as on the device; with float it is float. Templates, so that
// a float operand is not converted to half.
#define NPUFORGE_HALF_OPERATOR(SYMBOL)                                                                     \
    template <typename A, typename B,                                                                      \
              typename = std::enable_if_t<                                                                 \
                  (std::is_same_v<A, half> && (std::is_same_v<B, half> || std::is_integral_v<B>)) ||       \
                  (std::is_same_v<B, half> && std::is_integral_v<A>)>>                                     \
    inline half operator SYMBOL(A a, B b) {                                                                \
        return half(static_cast<float>(a) SYMBOL static_cast<float>(b));                                   \
    }
NPUFORGE_HALF_OPERATOR(+)
NPUFORGE_HALF_OPERATOR(-)
NPUFORGE_HALF_OPERATOR(*)
NPUFORGE_HALF_OPERATOR(/)
#undef NPUFORGE_HALF_OPERATOR
inline half operator-(half a) { return half::from_bits(static_cast<uint16_t>(a.bits() ^ 0x8000u)); }

class bfloat16_t {
public:
    bfloat16_t() = default;
    template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
    constexpr bfloat16_t(T value) : bits_(encode(static_cast<float>(value))) {}
    explicit bfloat16_t(half value) : bfloat16_t(static_cast<float>(value)) {}
    operator float() const { return npuforge::bf16_bits_to_float(bits_); }
    static bfloat16_t from_bits(uint16_t bits) {
        bfloat16_t b;
        b.bits_ = bits;
        return b;
    }
    uint16_t bits() const { return bits_; }

private:
    static constexpr uint16_t encode(float value) {
        uint32_t bits = __builtin_bit_cast(uint32_t, value);
        if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
        bits += 0x7fffu + ((bits >> 16) & 1u);
        return static_cast<uint16_t>(bits >> 16);
    }
    uint16_t bits_;
};

using float16_t = half;
using bfloat16 = bfloat16_t;

// Two 4-bit integers share a byte; a tensor of int4b_t counts elements, not bytes.
struct int4b_t {
    uint8_t storage;
};
namespace AscendC {
using ::int4b_t;
}

namespace npuforge {

template <typename T> struct dtype_of;
#define NPUFORGE_DTYPE(T, TAG) \
    template <> struct dtype_of<T> { static constexpr DType value = DType::TAG; };
NPUFORGE_DTYPE(int8_t, I8) NPUFORGE_DTYPE(uint8_t, U8) NPUFORGE_DTYPE(int16_t, I16)
NPUFORGE_DTYPE(uint16_t, U16) NPUFORGE_DTYPE(int32_t, I32) NPUFORGE_DTYPE(uint32_t, U32)
NPUFORGE_DTYPE(long, I64) NPUFORGE_DTYPE(unsigned long, U64)
NPUFORGE_DTYPE(long long, I64) NPUFORGE_DTYPE(unsigned long long, U64)
NPUFORGE_DTYPE(half, F16) NPUFORGE_DTYPE(bfloat16_t, BF16) NPUFORGE_DTYPE(float, F32)
NPUFORGE_DTYPE(double, F64) NPUFORGE_DTYPE(bool, Bool) NPUFORGE_DTYPE(int4b_t, I4)
NPUFORGE_DTYPE(char, I8)
#undef NPUFORGE_DTYPE

// Types of the user's own (complex numbers as structs) move but do not compute.
template <typename T, typename = void> struct dtype_or_bytes { static constexpr DType value = DType::Count; };
template <typename T> struct dtype_or_bytes<T, std::void_t<decltype(dtype_of<T>::value)>> {
    static constexpr DType value = dtype_of<T>::value;
};
template <typename T> inline constexpr DType dtype_v = dtype_or_bytes<std::remove_cv_t<T>>::value;

constexpr uint32_t dtype_bytes(DType type) {
    switch (type) {
        case DType::I8: case DType::U8: case DType::Bool: case DType::I4: return 1;
        case DType::I16: case DType::U16: case DType::F16: case DType::BF16: return 2;
        case DType::I64: case DType::U64: case DType::F64: case DType::C64: return 8;
        default: return 4;
    }
}

}  // namespace npuforge
