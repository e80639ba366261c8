// SPDX-License-Identifier: Apache-2.0
// Data movement inside UB: broadcasts, transposes, padding, masked selection, sequences.
#include <cstring>

#include "adv_values.h"

namespace npuforge {

namespace {

// Only named elements are defined afterwards; what lies between them is not.
void write_stretches(LibraryCall& instr, const Permutation& call) {
    std::vector<uint32_t> named(call.to, call.to + call.count);
    std::sort(named.begin(), named.end());
    uint32_t next = 0;
    for (size_t i = 0; i < named.size();) {
        const uint32_t first = named[i];
        uint32_t end = first;
        while (i < named.size() && named[i] <= end) end = std::max(end, named[i++] + 1);
        instr.spoils_rows(call.dst, next, 1, first - next, 0, "dst");
        instr.writes_rows(call.dst, first, 1, end - first, 0, "dst");
        next = end;
    }
}

}  // namespace

void library_permute(const Permutation& call) {
    LibraryCall instr(call.name, NPUFORGE_SITE());
    instr.requires_that(bytes_of(call.src.type, call.src_elements) <= call.src.room, "the shape exceeds the source tensor",
                        call.src_elements);
    instr.requires_that(bytes_of(call.dst.type, call.dst_elements) <= call.dst.room, "the shape exceeds the destination tensor",
                        call.dst_elements);
    instr.scratch(call.tmp, call.least_tmp);
    instr.reads(call.src, call.src_elements, "src");
    instr.apart(call.dst, call.dst_elements, "dst", call.src, call.src_elements, "src");
    const bool leaves_gaps = call.count < call.dst_elements && !call.rest_is_zero;
    if (leaves_gaps && (g_mode & kCheck)) write_stretches(instr, call);
    else instr.writes(call.dst, call.dst_elements, "dst");
    const uint32_t size = dtype_bytes(call.dst.type);
    if (!instr.commit(size, call.count)) return;
    const auto* src = static_cast<const uint8_t*>(call.src.addr);
    // Operands that overlap are reported above; the copy keeps their result deterministic.
    const std::vector<uint8_t> source(src, src + uint64_t(call.src_elements) * size);
    auto* dst = static_cast<uint8_t*>(call.dst.addr);
    if (call.rest_is_zero) std::memset(dst, 0, uint64_t(call.dst_elements) * size);
    for (uint32_t i = 0; i < call.count; ++i)
        std::memcpy(dst + uint64_t(call.to[i]) * size, &source[uint64_t(call.from[i]) * size], size);
}

void library_broadcast(const Tile& dst, const Tile& src, uint32_t rows, uint32_t columns, bool first_axis,
                       bool last_axis, uint64_t least_tmp, Scratch tmp) {
    LibraryCall instr("Broadcast", NPUFORGE_SITE());
    const uint64_t from = uint64_t(first_axis ? 1 : rows) * (last_axis ? 1 : columns), to = uint64_t(rows) * columns;
    if (first_axis && !last_axis && rows > 1)
        instr.requires_that(bytes_of(src.type, columns) % 32 == 0, "the row to repeat is not a multiple of 32 bytes", columns);
    instr.requires_that(bytes_of(dst.type, to) <= dst.room, "the shape exceeds the destination tensor", to);
    instr.scratch(tmp, least_tmp);
    instr.reads(src, from, "src");
    instr.apart(dst, to, "dst", src, from, "src");
    instr.writes(dst, to, "dst");
    const uint32_t size = dtype_bytes(dst.type);
    if (!instr.commit(size, to, rows)) return;
    const auto* in = static_cast<const uint8_t*>(src.addr);
    auto* out = static_cast<uint8_t*>(dst.addr);
    for (uint32_t r = 0; r < rows; ++r) {
        const uint8_t* line = in + (first_axis ? 0 : uint64_t(r) * (last_axis ? 1 : columns) * size);
        if (!last_axis) {
            std::memmove(out + uint64_t(r) * columns * size, line, uint64_t(columns) * size);
            continue;
        }
        for (uint32_t c = 0; c < columns; ++c) std::memcpy(out + (uint64_t(r) * columns + c) * size, line, size);
    }
}

void library_pad(const PadCall& call) {
    LibraryCall instr(call.name, NPUFORGE_SITE());
    const uint32_t width = call.left + call.src_width + call.right;
    const uint32_t size = dtype_bytes(call.dst.type);
    instr.requires_that(width <= call.dst_step, "the padded width exceeds the row", width);
    instr.scratch(call.tmp, call.least_tmp);
    instr.reads_rows(call.src, 0, call.height, call.src_width, call.src_step, "src");
    instr.writes_rows(call.dst, 0, call.height, width, call.dst_step, "dst");
    if (!instr.commit(size, uint64_t(call.height) * call.dst_step, call.height)) return;
    const auto* src = static_cast<const uint8_t*>(call.src.addr);
    auto* dst = static_cast<uint8_t*>(call.dst.addr);
    uint32_t bits = static_cast<uint32_t>(call.value);
    if (call.dst.type == DType::F16) bits = float_to_half_bits(static_cast<float>(call.value));
    if (call.dst.type == DType::F32) bits = float_to_bits(static_cast<float>(call.value));
    std::vector<uint8_t> source(src, src + (uint64_t(call.height - 1) * call.src_step + call.src_width) * size);
    for (uint32_t r = 0; r < call.height; ++r) {
        uint8_t* row = dst + uint64_t(r) * call.dst_step * size;
        for (uint32_t c = 0; c < width; ++c) {
            const bool data = c >= call.left && c < call.left + call.src_width;
            const void* from = data ? static_cast<const void*>(&source[(uint64_t(r) * call.src_step + c - call.left) * size])
                                    : &bits;
            std::memcpy(row + c * size, from, size);
        }
    }
}

void library_arange(const Tile& dst, Scalar first, Scalar step, int32_t count, const char* name) {
    LibraryCall instr(name, NPUFORGE_SITE());
    instr.requires_that(count > 0, "count must be positive", 0);
    if (count <= 0) return;
    instr.requires_that(bytes_of(dst.type, static_cast<uint64_t>(count)) <= dst.room, "count exceeds the tensor",
                        static_cast<uint64_t>(count));
    instr.writes(dst, static_cast<uint64_t>(count), "dst");
    if (!instr.commit(dtype_bytes(dst.type), static_cast<uint64_t>(count))) return;
    for (int32_t i = 0; i < count; ++i) {
        switch (dst.type) {
            case DType::I16: static_cast<int16_t*>(dst.addr)[i] = static_cast<int16_t>(first.l + step.l * i); break;
            case DType::I32: static_cast<int32_t*>(dst.addr)[i] = static_cast<int32_t>(first.l + step.l * i); break;
            default: store_one(dst, static_cast<uint64_t>(i), first.f + step.f * static_cast<float>(i));
        }
    }
}

void library_masked_select(const MaskedSelect& call) {
    LibraryCall instr(call.name, NPUFORGE_SITE());
    const uint64_t all = uint64_t(call.rows) * call.columns;
    const uint32_t needed = call.bits ? (call.columns + 7) / 8 : call.columns;
    instr.requires_that(bytes_of(call.src.type, call.columns) % 32 == 0, "the source's last axis is not a multiple of 32 bytes",
                        call.columns);
    instr.requires_that(call.mask_columns >= needed, "the mask's last axis is shorter than the source's", call.mask_columns);
    instr.scratch(call.tmp, call.least_tmp);
    instr.reads(call.src, all, "src");
    instr.reads_rows(call.mask, 0, call.rows, needed, call.mask_columns, "mask");
    if (call.clobbers_mask) instr.spoils(call.mask, uint64_t(call.rows) * call.mask_columns, "mask");
    instr.writes(call.dst, all, "dst");
    if (!instr.commit(dtype_bytes(call.src.type), all, call.rows)) return;

    const uint32_t mask_size = dtype_bytes(call.mask.type);
    const auto* mask = static_cast<const uint8_t*>(call.mask.addr);
    const auto set = [&](uint32_t r, uint32_t c) {
        if (call.bits) return ((mask[uint64_t(r) * call.mask_columns + c / 8] >> (c % 8)) & 1) != 0;
        const uint8_t* at = mask + (uint64_t(r) * call.mask_columns + c) * mask_size;
        for (uint32_t b = 0; b < mask_size; ++b)
            if (at[b] != 0) return true;
        return false;
    };
    std::vector<float> line(call.columns);
    for (uint32_t r = 0; r < call.rows; ++r) {
        load(call.src, uint64_t(r) * call.columns, call.columns, line.data());
        for (uint32_t c = 0; c < call.columns; ++c)
            line[c] = set(r, c) == call.keep_where_zero ? call.other : line[c] * call.scale;
        store(call.dst, uint64_t(r) * call.columns, call.columns, line.data());
    }
}

}  // namespace npuforge
