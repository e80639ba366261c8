// SPDX-License-Identifier: Apache-2.0
// Conversions with a scale: SetDeqScale and CastDequant.
#include <bit>
#include <cmath>
#include <cstring>

#include "check.h"
#include "vec_call.h"

namespace npuforge {

namespace {

// A word of the register or of a table: scale in bits 0..31, offset in 37..45, sign in 46. The unit
// reads 10 bits of the scale's mantissa.
struct Word {
    float scale;
    int offset;
    bool is_signed;
};

float shortened(float scale) { return bits_to_float(float_to_bits(scale) & ~0x1fffu); }
int nine_bits(int offset) { return static_cast<int>(static_cast<uint32_t>(offset) << 23) >> 23; }

Word decode(uint64_t word) {
    return {shortened(bits_to_float(static_cast<uint32_t>(word))), nine_bits(static_cast<int>(word >> 37)), (word >> 46 & 1) != 0};
}

uint8_t quantise(int16_t value, const Word& w) {
    const float scaled = std::rint(static_cast<float>(value) * w.scale) + static_cast<float>(w.offset);
    const float low = w.is_signed ? -128.0f : 0.0f, high = w.is_signed ? 127.0f : 255.0f;
    const float clipped = scaled != scaled ? 0.0f : std::min(std::max(scaled, low), high);
    return static_cast<uint8_t>(static_cast<int>(clipped));
}

constexpr uint32_t kBlockLanes = 16;

// The bytes written: 16 in one half of each block, as far as lanes are active.
void add_half_blocks(Instr& instr, const Tile& dst, const Lanes& lanes, uint32_t half, uint32_t repeat0, uint32_t repeats,
                     uint32_t limit) {
    for (uint32_t block = 0; block * kBlockLanes < limit; ++block) {
        const uint32_t first = block * kBlockLanes;
        const uint32_t count = std::min(kBlockLanes, limit - first);
        const uint32_t active = static_cast<uint32_t>(lanes.mask[first >> 6] >> (first & 63)) & ((1u << count) - 1);
        if (active == 0) continue;
        const auto low = static_cast<uint32_t>(std::countr_zero(active));
        Access a{};
        a.base = static_cast<const uint8_t*>(dst.addr) + int64_t(repeat0) * dst.repeat_stride * 32 +
                 int64_t(block) * dst.block_stride * 32 + half + low;
        a.row_bytes = static_cast<uint32_t>(std::bit_width(active)) - low;
        a.repeats = repeats;
        a.repeat_step = int64_t(dst.repeat_stride) * 32;
        a.write = true;
        a.align = a.base == dst.addr ? 32 : 1;
        a.role = "dst";
        a.room = dst.room;
        a.position = dst.position;
        instr.accesses.push_back(a);
    }
}

void cast_to_bytes(const Extent& extent, const Tile& dst_in, const Tile& src_in, bool vector_scales, uint32_t half) {
    const Lanes lanes = lanes_of(extent, 2, "CastDequant");
    const Tile src = packed(src_in, extent, lanes);
    Tile dst = dst_in;
    if (extent.form == Extent::Form::Count) dst.block_stride = 1, dst.repeat_stride = 8;
    const Dequantization& deq = g_core->vector.deq;
    const auto wanted = vector_scales ? Dequantization::Kind::Table : Dequantization::Kind::Number;
    if (deq.kind != wanted) report("CVT-02", "CastDequant of int16_t without the SetDeqScale of its form before");
    if (g_mode != 0) {
        Instr& instr = begin("CastDequant", Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src, lanes, false, "src");
        const uint32_t full = lanes.last_lanes == 0 ? lanes.repeats : lanes.repeats - 1;
        if (full > 0) add_half_blocks(instr, dst, lanes, half, 0, full, lanes.per_repeat);
        if (lanes.last_lanes != 0) add_half_blocks(instr, dst, lanes, half, full, 1, lanes.last_lanes);
        if (deq.kind == Dequantization::Kind::Table) {
            Access a{};
            a.base = static_cast<const uint8_t*>(deq.table.addr);
            a.row_bytes = 128;
            a.role = "vdeq";
            a.room = deq.table.room;
            a.position = deq.table.position;
            instr.accesses.push_back(a);
        }
        check_strides(extent, lanes, dst, "CastDequant");
        if (!commit_vector(instr, lanes, 2)) return;
    }
    Word words[kBlockLanes];
    for (uint32_t j = 0; j < kBlockLanes; ++j) {
        words[j] = {shortened(deq.scale), nine_bits(deq.offset), deq.is_signed};
        if (deq.kind == Dequantization::Kind::Table) {
            uint64_t word;
            std::memcpy(&word, static_cast<const uint8_t*>(deq.table.addr) + j * 8, 8);
            words[j] = decode(word);
        }
    }
    for_rows_at(lanes, {&src}, [&](uint8_t* const* at, uint32_t n, uint32_t element) {
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t repeat = (element + i) / lanes.per_repeat, lane = (element + i) % lanes.per_repeat;
            auto* to = static_cast<uint8_t*>(dst.addr) + int64_t(repeat) * dst.repeat_stride * 32 +
                       int64_t(lane / kBlockLanes) * dst.block_stride * 32 + half + lane % kBlockLanes;
            *to = quantise(reinterpret_cast<const int16_t*>(at[0])[i], words[lane % kBlockLanes]);
        }
    });
}

}  // namespace

void vec_cast_dequant(const Extent& extent, const Tile& dst_in, const Tile& src_in, bool vector_scales, bool upper_half) {
    if (src_in.type == DType::I16) return cast_to_bytes(extent, dst_in, src_in, vector_scales, upper_half ? 16 : 0);
    const Lanes lanes = lanes_of(extent, 4, "CastDequant");
    const Tile dst = packed(dst_in, extent, lanes), src = packed(src_in, extent, lanes);
    if (g_core->vector.deq.kind != Dequantization::Kind::Half)
        report("CVT-02", "CastDequant of int32_t without SetDeqScale(half) before");
    if (g_mode != 0) {
        Instr& instr = begin("CastDequant", Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src, lanes, false, "src");
        add_tile(instr, dst, lanes, true, "dst");
        check_strides(extent, lanes, dst, "CastDequant");
        if (!commit_vector(instr, lanes, 4)) return;
    }
    const float scale = g_core->vector.deq.scale;
    const bool clip = clips(dst);
    for_rows(lanes, {&dst, &src}, [&](uint8_t* const* at, uint32_t n) {
        auto* to = reinterpret_cast<uint16_t*>(at[0]);
        for (uint32_t i = 0; i < n; ++i)
            to[i] = float_to_half_bits(static_cast<float>(reinterpret_cast<const int32_t*>(at[1])[i]) * scale);
        if (clip) saturate_row(to, n, dst.type);
    });
}

void set_deq_half(uint16_t scale) {
    g_core->vector.deq = {};
    g_core->vector.deq.kind = Dequantization::Kind::Half;
    g_core->vector.deq.scale = half_bits_to_float(scale);
}

void set_deq_scalar(float scale, int16_t offset, bool is_signed) {
    Dequantization& deq = g_core->vector.deq;
    deq = {};
    deq.kind = Dequantization::Kind::Number;
    deq.scale = scale;
    deq.offset = offset;
    deq.is_signed = is_signed;
}

void set_deq_table(const Tile& table, const float* scales, const int16_t* offsets, const bool* is_signed) {
    if (table.room < 128) report("CVT-02", "SetDeqScale: the table takes 128 bytes, the tensor has %u", table.room);
    Dequantization& deq = g_core->vector.deq;
    deq = {};
    deq.kind = Dequantization::Kind::Table;
    deq.table = table;
    auto* to = static_cast<uint8_t*>(table.addr);
    for (uint32_t j = 0; j < kBlockLanes; ++j) {
        const uint64_t word = float_to_bits(scales[j]) | (uint64_t(static_cast<uint16_t>(offsets[j]) & 0x1ff) << 37) |
                              (uint64_t(is_signed[j]) << 46);
        scalar_access(to + j * 8, to, 8, Space::UB, &word);
        if ((g_mode & kNoData) == 0) std::memcpy(to + j * 8, &word, 8);
    }
}

}  // namespace npuforge
