// SPDX-License-Identifier: Apache-2.0
// Rows of half and bfloat16 to float and back, many elements at a time. Arithmetic on 16 bit floats
// happens in float and is rounded once when it is stored, which is exact for + - * / and sqrt. Compilers for
// aarch64 make vector instructions of the plain loops; arm_neon.h has a float16_t that is not the kernels'.
#pragma once
#include <cstdint>

#include "../npu/types.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace npuforge {

// Elements that the row functions of 16 bit floats convert at a time: small enough for the first cache.
inline constexpr uint32_t kChunk = 512;

inline void widen_half(float* to, const uint16_t* from, uint32_t n) {
    uint32_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
    for (; i < n; ++i) to[i] = half_bits_to_float(from[i]);
}

inline void narrow_half(uint16_t* to, const float* from, uint32_t n) {
    uint32_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
#endif
    for (; i < n; ++i) to[i] = float_to_half_bits(from[i]);
}

inline void widen_bf16(float* to, const uint16_t* from, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) to[i] = bf16_bits_to_float(from[i]);
}

// Saturation mode: what a 16 bit float holds after an overflow or an invalid operation.
inline void saturate_row(uint16_t* row, uint32_t n, DType type) {
    const uint16_t infinity = type == DType::F16 ? 0x7c00 : 0x7f80;
    for (uint32_t i = 0; i < n; ++i) {
        const uint16_t magnitude = row[i] & 0x7fff;
        const uint16_t largest = static_cast<uint16_t>((row[i] & 0x8000) | (infinity - 1));
        row[i] = magnitude > infinity ? uint16_t(0) : (magnitude == infinity ? largest : row[i]);
    }
}

}  // namespace npuforge
