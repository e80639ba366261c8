// SPDX-License-Identifier: Apache-2.0
// Compare: one bit per element, into a tensor or into the compare register. The tensor forms work on
// whole repeats whatever the mask says.
#include <bit>
#include <cstring>

#include "vec_call.h"

namespace npuforge {

namespace {

// The order of AscendC::CMPMODE.
enum class Mode : int { LT, GT, EQ, LE, GE, NE };

template <Mode mode, typename T> bool holds(T a, T b) {
    if constexpr (mode == Mode::LT) return a < b;
    else if constexpr (mode == Mode::GT) return a > b;
    else if constexpr (mode == Mode::EQ) return a == b;
    else if constexpr (mode == Mode::LE) return a <= b;
    else if constexpr (mode == Mode::GE) return a >= b;
    else return a != b;
}

// One byte per element, 0 or 1. `step` 0 compares with a scalar.
template <Mode mode, typename T> void compare_bytes(uint8_t* out, const T* a, const T* b, uint32_t n, bool scalar) {
    if (scalar) {
        const T value = *b;
        for (uint32_t i = 0; i < n; ++i) out[i] = holds<mode>(a[i], value);
    } else {
        for (uint32_t i = 0; i < n; ++i) out[i] = holds<mode>(a[i], b[i]);
    }
}

template <typename T> void compare_row(Mode mode, uint8_t* out, const T* a, const T* b, uint32_t n, bool scalar) {
    switch (mode) {
        case Mode::LT: return compare_bytes<Mode::LT>(out, a, b, n, scalar);
        case Mode::GT: return compare_bytes<Mode::GT>(out, a, b, n, scalar);
        case Mode::EQ: return compare_bytes<Mode::EQ>(out, a, b, n, scalar);
        case Mode::LE: return compare_bytes<Mode::LE>(out, a, b, n, scalar);
        case Mode::GE: return compare_bytes<Mode::GE>(out, a, b, n, scalar);
        default: return compare_bytes<Mode::NE>(out, a, b, n, scalar);
    }
}

// Results of up to kChunk elements. `scalar` is set when b is one value.
void compare_chunk(DType type, Mode mode, uint8_t* out, const uint8_t* a, const uint8_t* b, uint32_t n, const Scalar* scalar) {
    if (type == DType::I32) {
        const int32_t value = scalar != nullptr ? scalar->i : 0;
        const auto* other = scalar != nullptr ? &value : reinterpret_cast<const int32_t*>(b);
        return compare_row(mode, out, reinterpret_cast<const int32_t*>(a), other, n, scalar != nullptr);
    }
    float x[kChunk], y[kChunk];
    const float* left = reinterpret_cast<const float*>(a);
    const float* right = scalar != nullptr ? &scalar->f : reinterpret_cast<const float*>(b);
    if (type == DType::F16) {
        widen_half(x, reinterpret_cast<const uint16_t*>(a), n);
        left = x;
        if (scalar == nullptr) {
            widen_half(y, reinterpret_cast<const uint16_t*>(b), n);
            right = y;
        }
    }
    compare_row(mode, out, left, right, n, scalar != nullptr);
}

// Eight bytes of 0 or 1 become eight bits, the first the lowest.
uint8_t pack8(const uint8_t* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    return static_cast<uint8_t>((word * 0x0102040810204080ull) >> 56);
}

// Whole repeats: the mask of the call does not count, a count is rounded up.
Lanes whole_repeats(const Extent& extent, uint32_t size, const char* name) {
    Lanes lanes{};
    lanes.per_repeat = 256 / size;
    lanes.mask[0] = ~0ull;
    lanes.mask[1] = lanes.per_repeat > 64 ? ~0ull : 0;
    lanes.contiguous_lanes = true;
    if (extent.form == Extent::Form::Count) {
        lanes.repeats = static_cast<uint32_t>((extent.count + lanes.per_repeat - 1) / lanes.per_repeat);
        if (extent.count % lanes.per_repeat != 0)
            report("CMP-01", "%s over %lld elements of %u bytes: not a multiple of 256 bytes", name,
                   static_cast<long long>(extent.count), size);
    } else {
        lanes.repeats = static_cast<uint32_t>(extent.repeat) & 255u;
    }
    if (lanes.repeats == 0) report("VEC-06", "%s with a count or repeatTime of 0", name);
    lanes.total = uint64_t(lanes.repeats) * lanes.per_repeat;
    return lanes;
}

// The lanes a mask asks for. The others are compared too, and nobody looks at their bits.
Lanes asked_lanes(const Extent& extent, const Lanes& whole) {
    if (extent.form != Extent::Form::Bits || g_core->vector.counter) return whole;
    Lanes asked = whole;
    for (int i = 0; i < 2; ++i) asked.mask[i] &= extent.mask[i];
    asked.contiguous_lanes = asked.mask[0] == whole.mask[0] && asked.mask[1] == whole.mask[1];
    asked.total = uint64_t(std::popcount(asked.mask[0]) + std::popcount(asked.mask[1])) * asked.repeats;
    return asked;
}

void compare_tensor(const char* name, int mode, const Extent& extent, const Tile& dst, const Tile& src0_in,
                    const Tile& src1_in, const Scalar* scalar, uint32_t site) {
    const uint32_t size = dtype_bytes(src0_in.type);
    const Lanes lanes = whole_repeats(extent, size, name);
    const Tile src0 = packed(src0_in, extent, lanes), src1 = packed(src1_in, extent, lanes);
    if (src0.type == DType::I32 && static_cast<Mode>(mode) != Mode::EQ)
        report("DTY-07", "%s of int32_t knows EQ only", name);
    if (lanes.total == 0) return;
    if (g_mode != 0) {
        Instr& instr = begin(name, Pipe::V, site);
        const Lanes asked = asked_lanes(extent, lanes);
        add_tile(instr, src0, asked, false, scalar != nullptr ? "src" : "src0");
        if (scalar == nullptr) add_tile(instr, src1, asked, false, "src1");
        Access bits{};
        bits.base = static_cast<const uint8_t*>(dst.addr);
        bits.row_bytes = static_cast<uint32_t>(lanes.total / 8);
        bits.write = true;
        bits.role = "dst";
        bits.room = dst.room;
        bits.position = dst.position;
        instr.accesses.push_back(bits);
        if (dst.room < bits.row_bytes)
            report("CMP-02", "%s writes %u bytes of bits, the result tensor has %u", name, bits.row_bytes, dst.room);
        if (!commit_vector(instr, lanes, size)) return;
    }
    auto* out = static_cast<uint8_t*>(dst.addr);
    for_rows_at(lanes, {&src0, &src1}, [&](uint8_t* const* at, uint32_t n, uint32_t element) {
        uint8_t bytes[kChunk];
        for (uint32_t start = 0; start < n; start += kChunk) {
            const uint32_t m = std::min(kChunk, n - start);
            compare_chunk(src0.type, static_cast<Mode>(mode), bytes, at[0] + start * size, at[1] + start * size, m, scalar);
            for (uint32_t i = 0; i < m; i += 8) out[(element + start + i) / 8] = pack8(bytes + i);
        }
    });
}

}  // namespace

void vec_compare(int mode, const Extent& extent, const Tile& dst, const Tile& src0, const Tile& src1) {
    compare_tensor("Compare", mode, extent, dst, src0, src1, nullptr, g_mode != 0 ? NPUFORGE_SITE() : 0);
}

void vec_compare_scalar(const char* name, int mode, const Extent& extent, const Tile& dst, const Tile& src, Scalar scalar) {
    compare_tensor(name, mode, extent, dst, src, src, &scalar, g_mode != 0 ? NPUFORGE_SITE() : 0);
}

// One repeat into the register; bits of masked lanes keep their value.
void vec_compare_register(int mode, const Extent& extent, const Tile& src0, const Tile& src1) {
    const uint32_t size = dtype_bytes(src0.type);
    const Lanes lanes = lanes_of(extent, size, "Compare");
    if (g_mode != 0) {
        Instr& instr = begin("Compare", Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src0, lanes, false, "src0");
        add_tile(instr, src1, lanes, false, "src1");
        if (!commit_vector(instr, lanes, size)) return;
    }
    for_rows_at(lanes, {&src0, &src1}, [&](uint8_t* const* at, uint32_t n, uint32_t element) {
        uint8_t bytes[kChunk];
        const uint32_t m = std::min(n, lanes.per_repeat - element);
        compare_chunk(src0.type, static_cast<Mode>(mode), bytes, at[0], at[1], m, nullptr);
        for (uint32_t i = 0; i < m; ++i) {
            const uint32_t lane = element + i;
            uint64_t& word = g_core->vector.compare_mask[lane >> 6];
            const uint64_t bit = 1ull << (lane & 63);
            word = bytes[i] != 0 ? word | bit : word & ~bit;
        }
    });
}

namespace {

bool touch_register(const char* name, const Tile& tile, uint32_t bytes, bool write, uint32_t site) {
    Instr& instr = begin(name, Pipe::V, site);
    Access a{};
    a.base = static_cast<const uint8_t*>(tile.addr);
    a.row_bytes = bytes;
    a.write = write;
    a.role = write ? "dst" : "src";
    a.room = tile.room;
    a.position = tile.position;
    instr.accesses.push_back(a);
    Lanes lanes{};
    lanes.repeats = 1;
    return commit_vector(instr, lanes, 4);
}

}  // namespace

void get_compare_mask(const Tile& dst) {
    if (dst.room < 128) report("CMP-03", "GetCmpMask into a tensor of %u bytes", dst.room);
    if (g_mode != 0 && !touch_register("GetCmpMask", dst, 16, true, NPUFORGE_SITE())) return;
    std::memcpy(dst.addr, g_core->vector.compare_mask, 16);
}

void set_compare_mask(const Tile& src) {
    if (g_mode != 0 && !touch_register("SetCmpMask", src, 16, false, NPUFORGE_SITE())) return;
    std::memcpy(g_core->vector.compare_mask, src.addr, 16);
}

}  // namespace npuforge
