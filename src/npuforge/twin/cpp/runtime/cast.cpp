// SPDX-License-Identifier: Apache-2.0
// Cast: conversions between element types, and the rounding modes each pair knows.
#include <algorithm>

#include "cast_rows.h"
#include "vec_call.h"

namespace npuforge {

namespace {

using CastRow = void (*)(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding mode, float scale);

template <typename T> const T* in(const uint8_t* p) { return reinterpret_cast<const T*>(p); }
template <typename T> T* out(uint8_t* p) { return reinterpret_cast<T*>(p); }

// Calls fn(float* values, start, m) for chunks of the row.
template <typename Fn> void chunks(uint32_t n, Fn fn) {
    float values[kChunk];
    for (uint32_t start = 0; start < n; start += kChunk) fn(values, start, std::min(kChunk, n - start));
}

template <typename S> void to_half_exact(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding, float) {
    chunks(n, [&](float* x, uint32_t start, uint32_t m) {
        for (uint32_t i = 0; i < m; ++i) x[i] = static_cast<float>(in<S>(src)[start + i]);
        narrow_half(out<uint16_t>(dst) + start, x, m);
    });
}

template <Rounding mode, typename S> void to_half_rounded(uint16_t* d, const S* s, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) d[i] = float_to_half_rounded<mode>(static_cast<float>(s[i]));
}

template <typename S> void to_half(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding mode, float scale) {
    if (mode == Rounding::None || mode == Rounding::Rint) {
        if constexpr (std::is_same_v<S, float>) narrow_half(out<uint16_t>(dst), in<float>(src), n);
        else to_half_exact<S>(dst, src, n, mode, scale);
        return;
    }
    with_rounding(mode, [&](auto r) { to_half_rounded<decltype(r)::value>(out<uint16_t>(dst), in<S>(src), n); });
}

// The scale of SetDeqScale; the rounding mode has no effect.
void int32_to_half(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding, float scale) {
    chunks(n, [&](float* x, uint32_t start, uint32_t m) {
        for (uint32_t i = 0; i < m; ++i) x[i] = static_cast<float>(in<int32_t>(src)[start + i]) * scale;
        narrow_half(out<uint16_t>(dst) + start, x, m);
    });
}

// Two numbers of 4 bits per byte, the first in the low half. n counts bytes.
void int4_to_half(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding, float) {
    for (uint32_t i = 0; i < n; ++i) {
        const auto byte = static_cast<int8_t>(src[i]);
        const auto low = static_cast<int8_t>(static_cast<uint8_t>(byte) << 4) >> 4;
        out<uint16_t>(dst)[2 * i] = float_to_half_bits(static_cast<float>(low));
        out<uint16_t>(dst)[2 * i + 1] = float_to_half_bits(static_cast<float>(byte >> 4));
    }
}

void half_to_int4(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding mode, float) {
    int8_t wide[kChunk];
    for (uint32_t start = 0; start < n; start += kChunk / 2) {
        const uint32_t m = std::min(kChunk / 2, n - start);
        cast_half_to_int<int8_t>(wide, in<uint16_t>(src) + 2 * start, 2 * m, mode);
        for (uint32_t i = 0; i < m; ++i) {
            const int low = std::clamp<int>(wide[2 * i], -8, 7), high = std::clamp<int>(wide[2 * i + 1], -8, 7);
            dst[start + i] = static_cast<uint8_t>((low & 15) | (high << 4));
        }
    }
}

template <typename D> void half_to_int(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding mode, float) {
    cast_half_to_int<D>(out<D>(dst), in<uint16_t>(src), n, mode);
}

template <Rounding mode, typename D> void float_row_to_int(D* d, const float* s, uint32_t n) {
#pragma GCC ivdep
    for (uint32_t i = 0; i < n; ++i) d[i] = float_to_int<D, mode>(s[i]);
}

template <typename D> void float_to_int_row(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding mode, float) {
    with_rounding(mode, [&](auto r) { float_row_to_int<decltype(r)::value>(out<D>(dst), in<float>(src), n); });
}

void bf16_to_int32(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding mode, float) {
    chunks(n, [&](float* x, uint32_t start, uint32_t m) {
        widen_bf16(x, in<uint16_t>(src) + start, m);
        with_rounding(mode, [&](auto r) { float_row_to_int<decltype(r)::value>(out<int32_t>(dst) + start, x, m); });
    });
}

void half_to_float(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding, float) {
    widen_half(out<float>(dst), in<uint16_t>(src), n);
}
void bf16_to_float(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding, float) {
    widen_bf16(out<float>(dst), in<uint16_t>(src), n);
}

void float_to_bf16(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding mode, float) {
    with_rounding(mode, [&](auto r) {
#pragma GCC ivdep
        for (uint32_t i = 0; i < n; ++i) out<uint16_t>(dst)[i] = float_to_bf16_rounded<decltype(r)::value>(in<float>(src)[i]);
    });
}

void float_to_integral(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding mode, float) {
    with_rounding(mode, [&](auto r) {
#pragma GCC ivdep
        for (uint32_t i = 0; i < n; ++i) out<float>(dst)[i] = to_integral<decltype(r)::value>(in<float>(src)[i]);
    });
}

template <typename S> void int_to_float_row(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding mode, float) {
    if (sizeof(S) == 2 || mode == Rounding::None || mode == Rounding::Rint) {
        for (uint32_t i = 0; i < n; ++i) out<float>(dst)[i] = static_cast<float>(in<S>(src)[i]);
        return;
    }
    with_rounding(mode, [&](auto r) {
        for (uint32_t i = 0; i < n; ++i) out<float>(dst)[i] = int_to_float<decltype(r)::value>(in<S>(src)[i]);
    });
}

template <typename D, typename S> void int_to_int(uint8_t* dst, const uint8_t* src, uint32_t n, Rounding, float) {
    constexpr int64_t lowest = std::numeric_limits<D>::min(), largest = std::numeric_limits<D>::max();
#pragma GCC ivdep
    for (uint32_t i = 0; i < n; ++i) {
        const int64_t value = in<S>(src)[i];
        out<D>(dst)[i] = static_cast<D>(value < lowest ? lowest : (value > largest ? largest : value));
    }
}

constexpr unsigned bit(Rounding mode) { return 1u << static_cast<int>(mode); }
constexpr unsigned kNone = bit(Rounding::None);
constexpr unsigned kFive = bit(Rounding::Rint) | bit(Rounding::Floor) | bit(Rounding::Ceil) | bit(Rounding::Round) |
                           bit(Rounding::Trunc);
constexpr unsigned kAny = kFive | kNone | bit(Rounding::Odd);

struct Pair {
    DType src, dst;
    unsigned modes;  // the rounding modes of the reference
    CastRow row;
};

using D = DType;
constexpr Pair kPairs[] = {
    {D::F16, D::F32, kNone, half_to_float},
    {D::F32, D::F16, kAny, to_half<float>},
    {D::BF16, D::F32, kNone, bf16_to_float},
    {D::F32, D::BF16, kFive, float_to_bf16},
    {D::I32, D::F32, kFive | kNone, int_to_float_row<int32_t>},
    {D::F32, D::I32, kFive, float_to_int_row<int32_t>},
    {D::I16, D::F32, kNone, int_to_float_row<int16_t>},
    {D::F32, D::I16, kFive, float_to_int_row<int16_t>},
    {D::F32, D::F32, kFive, float_to_integral},
    {D::F32, D::I64, kFive, float_to_int_row<int64_t>},
    {D::I64, D::F32, kFive, int_to_float_row<int64_t>},
    {D::I64, D::I32, kNone, int_to_int<int32_t, int64_t>},
    {D::I32, D::I64, kNone, int_to_int<int64_t, int32_t>},
    {D::I32, D::I16, kNone, int_to_int<int16_t, int32_t>},
    {D::I32, D::F16, kAny, int32_to_half},
    {D::F16, D::I32, kFive, half_to_int<int32_t>},
    {D::F16, D::I16, kFive, half_to_int<int16_t>},
    {D::F16, D::I8, kFive | kNone, half_to_int<int8_t>},
    {D::F16, D::U8, kFive | kNone, half_to_int<uint8_t>},
    {D::F16, D::I4, kFive | kNone, half_to_int4},
    {D::I4, D::F16, kNone, int4_to_half},
    {D::I8, D::F16, kNone, to_half_exact<int8_t>},
    {D::U8, D::F16, kNone, to_half_exact<uint8_t>},
    {D::I16, D::F16, kFive | kNone, to_half<int16_t>},
    {D::BF16, D::I32, kFive, bf16_to_int32},
};

const Pair* find_pair(DType dst, DType src) {
    for (const Pair& pair : kPairs)
        if (pair.dst == dst && pair.src == src) return &pair;
    return nullptr;
}

constexpr const char* kModeNames[] = {"CAST_NONE", "CAST_RINT", "CAST_FLOOR", "CAST_CEIL", "CAST_ROUND", "CAST_TRUNC", "CAST_ODD"};

void check_cast(const Extent& extent, const Lanes& lanes, const Tile& dst, const Tile& src, int mode, unsigned modes) {
    if ((modes >> mode & 1) == 0)
        report("CVT-01", "Cast: this pair of types has no rounding mode %s", mode < 7 ? kModeNames[mode] : "of that number");
    if (src.type == DType::I32 && dst.type == DType::F16 && g_core->vector.deq.kind != Dequantization::Kind::Half)
        report("DTY-15", "Cast from int32_t to half without SetDeqScale before");
    if (extent.form == Extent::Form::Count || lanes.repeats < 2 || dtype_bytes(dst.type) == dtype_bytes(src.type)) return;
    const bool whole = lanes.contiguous_lanes && dst.block_stride == 1 && src.block_stride == 1;
    if (whole && dst.repeat_stride == 8 && src.repeat_stride == 8)
        report("VEC-10", "Cast between widths with repeat strides 8 and 8: a repeat has %u elements, the narrow side fills %u blocks",
               lanes.per_repeat, lanes.per_repeat * std::min(dtype_bytes(dst.type), dtype_bytes(src.type)) / 32);
}

// int4b_t: a pair of elements becomes one, a byte on one side and 32 bits on the other.
Lanes pairs_of(const Lanes& lanes) {
    Lanes half = lanes;
    half.per_repeat = lanes.per_repeat / 2;
    half.last_lanes = (lanes.last_lanes + 1) / 2;
    half.total = (lanes.total + 1) / 2;
    half.mask[0] = half.mask[1] = 0;
    for (uint32_t i = 0; i < half.per_repeat; ++i) {
        const uint64_t both = lanes.mask[(2 * i) >> 6] >> ((2 * i) & 63) & 3;
        if (both == 1 || both == 2) report("MSK-03", "Cast of int4b_t: mask bits %u and %u differ", 2 * i, 2 * i + 1);
        if (both != 0) half.mask[0] |= uint64_t(1) << i;
    }
    if (lanes.last_lanes % 2 != 0) report("MSK-03", "Cast of int4b_t over an odd number of elements");
    return half;
}

Tile as_pairs(Tile tile) {
    tile.type = tile.type == DType::I4 ? DType::I8 : DType::U32;
    return tile;
}

}  // namespace

void vec_cast(const Extent& extent, const Tile& dst_in, const Tile& src_in, int round_mode) {
    const uint32_t widest = std::max(dtype_bytes(dst_in.type), dtype_bytes(src_in.type));
    Lanes lanes = lanes_of(extent, widest, "Cast");
    const Pair* pair = find_pair(dst_in.type, src_in.type);
    Tile dst = dst_in, src = src_in;
    const bool nibbles = dst.type == DType::I4 || src.type == DType::I4;
    if (nibbles) {
        lanes = pairs_of(lanes);
        dst = as_pairs(dst);
        src = as_pairs(src);
    }
    dst = packed(dst, extent, lanes);
    src = packed(src, extent, lanes);
    if (g_mode != 0) {
        Instr& instr = begin("Cast", Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src, lanes, false, "src");
        add_tile(instr, dst, lanes, true, "dst");
        check_strides(extent, lanes, dst, "Cast");
        if (g_mode & kCheck) check_cast(extent, lanes, dst_in, src_in, round_mode, pair->modes);
        if (!commit_vector(instr, lanes, widest)) return;
    }
    const auto mode = static_cast<Rounding>(round_mode);
    const float scale = g_core->vector.deq.scale;
    const bool clip = clips(dst);
    for_rows(lanes, {&dst, &src}, [&](uint8_t* const* at, uint32_t n) {
        pair->row(at[0], at[1], n, mode, scale);
        if (clip) saturate_row(reinterpret_cast<uint16_t*>(at[0]), n, dst.type);
    });
}

}  // namespace npuforge
