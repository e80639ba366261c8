// SPDX-License-Identifier: Apache-2.0
// Elements of a tensor as floats: the high-level API computes in float32 and rounds once.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "adv_call.h"

namespace npuforge {

template <typename T, typename Fn> void widen(const Tile& tile, uint64_t first, uint64_t count, float* out, Fn fn) {
    const T* in = static_cast<const T*>(tile.addr) + first;
    for (uint64_t i = 0; i < count; ++i) out[i] = fn(in[i]);
}

inline void load(const Tile& tile, uint64_t first, uint64_t count, float* out) {
    const auto plain = [](auto v) { return static_cast<float>(v); };
    switch (tile.type) {
        case DType::F32: std::memcpy(out, static_cast<const float*>(tile.addr) + first, count * 4); break;
        case DType::F16: widen<uint16_t>(tile, first, count, out, half_bits_to_float); break;
        case DType::BF16: widen<uint16_t>(tile, first, count, out, bf16_bits_to_float); break;
        case DType::I8: widen<int8_t>(tile, first, count, out, plain); break;
        case DType::U8: case DType::Bool: widen<uint8_t>(tile, first, count, out, plain); break;
        case DType::I16: widen<int16_t>(tile, first, count, out, plain); break;
        case DType::U16: widen<uint16_t>(tile, first, count, out, plain); break;
        case DType::I32: widen<int32_t>(tile, first, count, out, plain); break;
        case DType::U32: widen<uint32_t>(tile, first, count, out, plain); break;
        case DType::I4:
            for (uint64_t i = 0; i < count; ++i) {
                const uint8_t pair = static_cast<const uint8_t*>(tile.addr)[(first + i) / 2];
                const int nibble = (first + i) % 2 == 0 ? pair & 15 : pair >> 4;
                out[i] = static_cast<float>(nibble >= 8 ? nibble - 16 : nibble);
            }
            break;
        default: std::fill(out, out + count, 0.0f);
    }
}

// A sum as the vector unit forms it: 64 lanes gather the repeats, then halve down to one. The error
// grows with the logarithm of the length instead of the length.
inline float row_sum(const float* values, uint32_t count) {
    float lanes[64] = {};
    for (uint32_t i = 0; i < count; ++i) lanes[i % 64] += values[i];
    for (uint32_t half = 32; half > 0; half /= 2)
        for (uint32_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return lanes[0];
}

template <typename T, typename Fn> void narrow(const Tile& tile, uint64_t first, uint64_t count, const float* in, Fn fn) {
    T* out = static_cast<T*>(tile.addr) + first;
    for (uint64_t i = 0; i < count; ++i) out[i] = fn(in[i]);
}

// To the nearest even integer, kept inside the type.
template <typename T> T saturate(float value) {
    if (std::isnan(value)) return 0;
    const double rounded = std::nearbyint(static_cast<double>(value));
    return static_cast<T>(std::clamp(rounded, static_cast<double>(std::numeric_limits<T>::min()),
                                     static_cast<double>(std::numeric_limits<T>::max())));
}

inline void store(const Tile& tile, uint64_t first, uint64_t count, const float* in) {
    switch (tile.type) {
        case DType::F32: std::memcpy(static_cast<float*>(tile.addr) + first, in, count * 4); break;
        case DType::F16: narrow<uint16_t>(tile, first, count, in, float_to_half_bits); break;
        case DType::BF16: narrow<uint16_t>(tile, first, count, in, float_to_bf16_bits); break;
        case DType::I8: narrow<int8_t>(tile, first, count, in, saturate<int8_t>); break;
        case DType::U8: narrow<uint8_t>(tile, first, count, in, saturate<uint8_t>); break;
        case DType::I16: narrow<int16_t>(tile, first, count, in, saturate<int16_t>); break;
        case DType::I32: narrow<int32_t>(tile, first, count, in, saturate<int32_t>); break;
        default: break;
    }
}

inline float load_one(const Tile& tile, uint64_t index) {
    float value;
    load(tile, index, 1, &value);
    return value;
}
inline void store_one(const Tile& tile, uint64_t index, float value) { store(tile, index, 1, &value); }

inline float through_half(float value) { return half_bits_to_float(float_to_half_bits(value)); }

}  // namespace npuforge
