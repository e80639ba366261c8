// SPDX-License-Identifier: Apache-2.0
// The arithmetic of element-wise instructions, one functor each: of(a, b, old destination).
// Integers wrap around; And, Or and Not see bits.
#pragma once
#include <type_traits>

#include "vec_math.h"

namespace npuforge::ops {

template <typename T> inline constexpr bool is_int = std::is_integral_v<T>;

// Arithmetic modulo the width of T; 16 bit operands are widened first, so nothing overflows an int.
template <typename T> T wrap_add(T a, T b) { return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }
template <typename T> T wrap_sub(T a, T b) { return static_cast<T>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b)); }
template <typename T> T wrap_mul(T a, T b) { return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b)); }

template <typename T> T relu(T x) {
    if constexpr (is_int<T>) return x > 0 ? x : T(0);
    else return relu_f32(x);
}

struct Pure {
    static constexpr bool reads_dst = false;
};
struct Accumulating {
    static constexpr bool reads_dst = true;
};

struct Add : Pure {
    template <typename T> static T of(T a, T b, T) {
        if constexpr (is_int<T>) return wrap_add(a, b);
        else return a + b;
    }
};
struct Sub : Pure {
    template <typename T> static T of(T a, T b, T) {
        if constexpr (is_int<T>) return wrap_sub(a, b);
        else return a - b;
    }
};
struct Mul : Pure {
    template <typename T> static T of(T a, T b, T) {
        if constexpr (is_int<T>) return wrap_mul(a, b);
        else return a * b;
    }
};
struct Div : Pure {
    static float of(float a, float b, float) { return a / b; }
};
struct Max : Pure {
    template <typename T> static T of(T a, T b, T) {
        if constexpr (is_int<T>) return a > b ? a : b;
        else return max_f32(a, b);
    }
};
struct Min : Pure {
    template <typename T> static T of(T a, T b, T) {
        if constexpr (is_int<T>) return a < b ? a : b;
        else return min_f32(a, b);
    }
};
struct And : Pure {
    template <typename T> static T of(T a, T b, T) { return static_cast<T>(a & b); }
};
struct Or : Pure {
    template <typename T> static T of(T a, T b, T) { return static_cast<T>(a | b); }
};
struct AddRelu : Pure {
    template <typename T> static T of(T a, T b, T d) { return relu(Add::of(a, b, d)); }
};
struct SubRelu : Pure {
    template <typename T> static T of(T a, T b, T d) { return relu(Sub::of(a, b, d)); }
};
// The product and the sum are rounded together.
struct MulAddDst : Accumulating {
    static float of(float a, float b, float d) { return __builtin_fmaf(a, b, d); }
};
struct FusedMulAdd : Accumulating {
    static float of(float a, float b, float d) { return __builtin_fmaf(a, d, b); }
};
struct FusedMulAddRelu : Accumulating {
    static float of(float a, float b, float d) { return relu_f32(__builtin_fmaf(a, d, b)); }
};

struct LeakyRelu : Pure {
    static float of(float a, float s, float) {
        const float scaled = a * s;
        return a >= 0.0f ? a : scaled;
    }
};
struct Axpy : Accumulating {
    static float of(float a, float s, float d) { return __builtin_fmaf(a, s, d); }
};

struct Exp { static float of(float x) { return exp_f32(x); } };
struct Ln { static float of(float x) { return ln_f32(x); } };
struct Abs { static float of(float x) { return bits_to_float(float_to_bits(x) & 0x7fffffffu); } };
struct Reciprocal { static float of(float x) { return 1.0f / x; } };
struct Sqrt { static float of(float x) { return __builtin_sqrtf(x); } };
struct Rsqrt { static float of(float x) { return 1.0f / __builtin_sqrtf(x); } };
struct Not { template <typename T> static T of(T x) { return static_cast<T>(~x); } };
struct Relu { template <typename T> static T of(T x) { return relu(x); } };

}  // namespace npuforge::ops
