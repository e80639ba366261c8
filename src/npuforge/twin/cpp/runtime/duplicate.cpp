// SPDX-License-Identifier: Apache-2.0
// Instructions that fill: Duplicate, CreateVecIndex, Brcb, and the masked copy inside UB.
#include <cstring>

#include "vec_call.h"

namespace npuforge {

namespace {

template <typename T> void fill(uint8_t* at, uint32_t n, T value) {
    auto* to = reinterpret_cast<T*>(at);
    for (uint32_t i = 0; i < n; ++i) to[i] = value;
}

// The bits of a scalar as the tensor stores it.
uint32_t stored_bits(DType type, Scalar value) {
    switch (type) {
        case DType::F32: return float_to_bits(value.f);
        case DType::F16: return float_to_half_bits(value.f);
        case DType::BF16: return float_to_bf16_bits(value.f);
        default: return static_cast<uint32_t>(value.l);
    }
}

// Integers wrap; half counts in float and rounds each number.
void index_row(DType type, uint8_t* at, uint32_t n, uint32_t element, Scalar first) {
    for (uint32_t i = 0; i < n; ++i) {
        const float number = first.f + static_cast<float>(element + i);
        const auto integer = static_cast<uint32_t>(first.l) + element + i;
        switch (type) {
            case DType::F32: reinterpret_cast<float*>(at)[i] = number; break;
            case DType::F16: reinterpret_cast<uint16_t*>(at)[i] = float_to_half_bits(number); break;
            case DType::I16: reinterpret_cast<uint16_t*>(at)[i] = static_cast<uint16_t>(integer); break;
            default: reinterpret_cast<uint32_t*>(at)[i] = integer; break;
        }
    }
}

// Copy in counter mode: the mask is the number of elements of each repeat, and repeats count.
struct CountedCopy {
    uint32_t bytes, repeats;
};

void add_counted(Instr& instr, const Tile& tile, const CountedCopy& job, bool write) {
    Access a{};
    a.base = static_cast<const uint8_t*>(tile.addr);
    a.repeats = job.repeats;
    a.repeat_step = int64_t(tile.repeat_stride) * 32;
    a.write = write;
    a.role = write ? "dst" : "src";
    a.room = tile.room;
    a.position = tile.position;
    const uint32_t blocks = job.bytes / 32, tail = job.bytes % 32;
    if (blocks > 0) {
        a.row_bytes = 32;
        a.rows = blocks;
        a.row_step = int64_t(tile.block_stride) * 32;
        instr.accesses.push_back(a);
    }
    if (tail > 0) {
        a.base += int64_t(blocks) * tile.block_stride * 32;
        a.row_bytes = tail;
        a.rows = 1;
        instr.accesses.push_back(a);
    }
}

void copy_counted(const Extent& extent, const Tile& dst, const Tile& src) {
    const uint32_t size = dtype_bytes(dst.type);
    VectorState& state = g_core->vector;
    if (extent.form == Extent::Form::Bits) state.mask_low = static_cast<uint64_t>(extent.count);
    const CountedCopy job{static_cast<uint32_t>(state.mask_low) * size, static_cast<uint32_t>(extent.repeat) & 255u};
    if (job.bytes == 0 || job.repeats == 0) {
        report("VEC-06", "Copy of %u bytes in %u repeats", job.bytes, job.repeats);
        return;
    }
    if (g_mode != 0) {
        Instr& instr = begin("Copy", Pipe::V, NPUFORGE_SITE());
        add_counted(instr, src, job, false);
        add_counted(instr, dst, job, true);
        Lanes lanes{};
        lanes.repeats = job.repeats * ((job.bytes + 255) / 256);
        if (!commit_vector(instr, lanes, size)) return;
    }
    for (uint32_t r = 0; r < job.repeats; ++r) {
        for (uint32_t done = 0; done < job.bytes; done += 32) {
            const int64_t block = done / 32;
            std::memmove(static_cast<uint8_t*>(dst.addr) + int64_t(r) * dst.repeat_stride * 32 + block * dst.block_stride * 32,
                         static_cast<uint8_t*>(src.addr) + int64_t(r) * src.repeat_stride * 32 + block * src.block_stride * 32,
                         std::min(32u, job.bytes - done));
        }
    }
}

}  // namespace

void vec_duplicate(const Extent& extent, const Tile& dst_in, Scalar value) {
    const uint32_t size = dtype_bytes(dst_in.type);
    const Lanes lanes = lanes_of(extent, size, "Duplicate");
    const Tile dst = packed(dst_in, extent, lanes);
    if (g_mode != 0) {
        Instr& instr = begin("Duplicate", Pipe::V, NPUFORGE_SITE());
        add_tile(instr, dst, lanes, true, "dst");
        check_strides(extent, lanes, dst, "Duplicate");
        if (!commit_vector(instr, lanes, size)) return;
    }
    const uint32_t bits = stored_bits(dst.type, value);
    for_rows(lanes, {&dst}, [&](uint8_t* const* at, uint32_t n) {
        if (size == 2) fill(at[0], n, static_cast<uint16_t>(bits));
        else fill(at[0], n, bits);
    });
}

void vec_index(const Extent& extent, const Tile& dst_in, Scalar first) {
    const uint32_t size = dtype_bytes(dst_in.type);
    const Lanes lanes = lanes_of(extent, size, "CreateVecIndex");
    const Tile dst = packed(dst_in, extent, lanes);
    if (g_mode != 0) {
        Instr& instr = begin("CreateVecIndex", Pipe::V, NPUFORGE_SITE());
        add_tile(instr, dst, lanes, true, "dst");
        check_strides(extent, lanes, dst, "CreateVecIndex");
        if (!commit_vector(instr, lanes, size)) return;
    }
    for_rows_at(lanes, {&dst}, [&](uint8_t* const* at, uint32_t n, uint32_t element) {
        index_row(dst.type, at[0], n, element, first);
    });
}

void vec_copy(const Extent& extent, const Tile& dst, const Tile& src) {
    if (dst.repeat_stride > 4095 || src.repeat_stride > 4095)
        report("VEC-03", "Copy with repeat strides %u and %u: at most 4095", dst.repeat_stride, src.repeat_stride);
    if (g_core->vector.counter) return copy_counted(extent, dst, src);
    const uint32_t size = dtype_bytes(dst.type);
    const Lanes lanes = lanes_of(extent, size, "Copy");
    if (g_mode != 0) {
        Instr& instr = begin("Copy", Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src, lanes, false, "src");
        add_tile(instr, dst, lanes, true, "dst");
        check_strides(extent, lanes, dst, "Copy");
        if (!commit_vector(instr, lanes, size)) return;
    }
    for_rows(lanes, {&dst, &src}, [&](uint8_t* const* at, uint32_t n) { std::memmove(at[0], at[1], size_t(n) * size); });
}

void vec_brcb(const Tile& dst_in, const Tile& src, int32_t repeat) {
    constexpr uint32_t kNumbers = 8;  // each repeat spreads 8 numbers over 8 blocks
    const uint32_t size = dtype_bytes(dst_in.type), repeats = static_cast<uint32_t>(repeat) & 255u;
    Tile dst = dst_in;
    if (dst.block_stride == 0) {
        report("VEC-05", "Brcb with dstBlkStride 0");
        dst.block_stride = 1;
    }
    if (dst.repeat_stride > 255) report("VEC-03", "Brcb with dstRepStride %u: at most 255", dst.repeat_stride);
    if (repeats == 0) {
        report("VEC-06", "Brcb with repeatTime 0");
        return;
    }
    if (g_mode != 0) {
        Instr& instr = begin("Brcb", Pipe::V, NPUFORGE_SITE());
        Access read{};
        read.base = static_cast<const uint8_t*>(src.addr);
        read.row_bytes = repeats * kNumbers * size;
        read.role = "src";
        read.room = src.room;
        read.position = src.position;
        Access write{};
        write.base = static_cast<const uint8_t*>(dst.addr);
        write.row_bytes = 32;
        write.rows = kNumbers;
        write.row_step = int64_t(dst.block_stride) * 32;
        write.repeats = repeats;
        write.repeat_step = int64_t(dst.repeat_stride) * 32;
        write.write = true;
        write.role = "dst";
        write.room = dst.room;
        write.position = dst.position;
        instr.accesses.push_back(read);
        instr.accesses.push_back(write);
        Lanes lanes{};
        lanes.repeats = repeats;
        if (!commit_vector(instr, lanes, size)) return;
    }
    for (uint32_t i = 0; i < repeats * kNumbers; ++i) {
        auto* to = static_cast<uint8_t*>(dst.addr) + int64_t(i / kNumbers) * dst.repeat_stride * 32 +
                   int64_t(i % kNumbers) * dst.block_stride * 32;
        if (size == 2) fill(to, 16, static_cast<const uint16_t*>(src.addr)[i]);
        else fill(to, 8, static_cast<const uint32_t*>(src.addr)[i]);
    }
}

}  // namespace npuforge
