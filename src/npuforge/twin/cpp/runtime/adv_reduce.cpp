// SPDX-License-Identifier: Apache-2.0
// Reductions along one of two axes, running sums.
#include <limits>

#include "adv_values.h"

namespace npuforge {
namespace {

float start(ReduceKind kind) {
    switch (kind) {
        case ReduceKind::Max: case ReduceKind::Any: return -std::numeric_limits<float>::infinity();
        case ReduceKind::Min: case ReduceKind::All: return std::numeric_limits<float>::infinity();
        case ReduceKind::Prod: return 1;
        default: return 0;
    }
}

float combine(ReduceKind kind, float a, float b) {
    switch (kind) {
        case ReduceKind::Max: case ReduceKind::Any: return std::max(a, b);
        case ReduceKind::Min: case ReduceKind::All: return std::min(a, b);
        case ReduceKind::Prod: return a * b;
        default: return a + b;
    }
}

// Halves the values again and again, as the hardware's trees do; keeps sums of many terms accurate.
float fold(ReduceKind kind, float* values, uint32_t count) {
    if (count == 0) return start(kind);
    while (count > 1) {
        const uint32_t half = (count + 1) / 2;
        for (uint32_t i = 0; i + half < count; ++i) values[i] = combine(kind, values[i], values[i + half]);
        count = half;
    }
    return values[0];
}

}  // namespace

void library_reduce(const Reduce& call) {
    LibraryCall instr(call.name, NPUFORGE_SITE());
    const uint32_t outputs = call.reduce_first ? call.last : call.first;
    const uint64_t stored = uint64_t(call.first) * call.stride;
    instr.requires_that(call.last <= call.stride, "the last axis is longer than its padded length", call.last);
    instr.requires_that(bytes_of(call.src.type, call.stride) % 32 == 0, "the padded last axis is not a multiple of 32 bytes",
                        call.stride);
    instr.scratch(call.tmp, call.least_tmp);
    instr.reads_rows(call.src, 0, call.first, call.last, call.stride, "src");
    instr.apart(call.dst, outputs, "dst", call.src, stored, "src");
    if (call.reuse_source) instr.spoils(call.src, stored, "src");
    instr.writes(call.dst, outputs, "dst");
    if (!instr.commit(dtype_bytes(call.src.type), stored, outputs)) return;

    std::vector<float> values(std::max(call.first, call.last));
    const uint32_t reduced = call.reduce_first ? call.first : call.last;
    for (uint32_t o = 0; o < outputs; ++o) {
        if (call.reduce_first) {
            for (uint32_t r = 0; r < call.first; ++r) values[r] = load_one(call.src, uint64_t(r) * call.stride + o);
        } else {
            load(call.src, uint64_t(o) * call.stride, call.last, values.data());
        }
        float result = fold(call.kind, values.data(), reduced);
        if (call.kind == ReduceKind::Mean) result /= static_cast<float>(reduced);
        store_one(call.dst, o, result);
    }
}

void library_reduce_xor_sum(const Tile& dst, const Tile& src0, const Tile& src1, uint32_t count, Scratch tmp,
                            bool reuse_source) {
    LibraryCall instr("ReduceXorSum", NPUFORGE_SITE());
    instr.scratch(tmp, 0);
    instr.reads(src0, count, "src0");
    instr.reads(src1, count, "src1");
    instr.apart(dst, 1, "dst", src0, count, "src0");
    instr.apart(dst, 1, "dst", src1, count, "src1");
    if (reuse_source) {
        instr.spoils(src0, count, "src0");
        instr.spoils(src1, count, "src1");
    }
    instr.writes(dst, 1, "dst");
    if (!instr.commit(2, count)) return;
    const auto* a = static_cast<const int16_t*>(src0.addr);
    const auto* b = static_cast<const int16_t*>(src1.addr);
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) sum += static_cast<int16_t>(a[i] ^ b[i]);
    *static_cast<int16_t*>(dst.addr) = static_cast<int16_t>(std::clamp<int64_t>(sum, -32768, 32767));
}

void library_cum_sum(const Tile& dst, const Tile& last_row, const Tile& src, uint32_t outer, uint32_t inner,
                     bool last_axis, bool reuse_source, uint64_t least_tmp, Scratch tmp) {
    LibraryCall instr("CumSum", NPUFORGE_SITE());
    const uint64_t all = uint64_t(outer) * inner;
    instr.requires_that(bytes_of(src.type, inner) % 32 == 0, "inner is not a multiple of 32 bytes", inner);
    instr.requires_that(bytes_of(src.type, all) <= src.room && bytes_of(dst.type, all) <= dst.room,
                        "outter x inner exceeds a tensor", all);
    instr.scratch(tmp, least_tmp);
    instr.reads(src, all, "src");
    if (reuse_source) instr.spoils(src, all, "src");
    instr.writes(dst, all, "dst");
    if (present(last_row)) instr.writes(last_row, inner, "lastRow");
    if (!instr.commit(dtype_bytes(src.type), all, outer)) return;

    std::vector<float> above(inner, 0.0f), line(inner);
    for (uint32_t r = 0; r < outer; ++r) {
        load(src, uint64_t(r) * inner, inner, line.data());
        for (uint32_t c = 0; c < inner; ++c) line[c] += last_axis ? (c == 0 ? 0.0f : line[c - 1]) : above[c];
        store(dst, uint64_t(r) * inner, inner, line.data());
        above = line;
    }
    if (present(last_row)) store(last_row, 0, inner, above.data());
}

}  // namespace npuforge
