// SPDX-License-Identifier: Apache-2.0
// Moves between GM and local memory, with padding and atomic accumulation.
#include <algorithm>
#include <cstring>

#include "check.h"
#include "report.h"

namespace npuforge {

namespace {

// The pipe is decided by where data leaves and arrives.
Pipe pipe_of(const Dma& job) {
    if (job.src_space == Space::GM) return Pipe::MTE2;
    if (job.dst_space == Space::GM) return job.src_space == Space::L0C ? Pipe::FIX : Pipe::MTE3;
    if (job.dst_space == Space::L0A || job.dst_space == Space::L0B || job.dst_space == Space::BT) return Pipe::MTE1;
    if (job.src_space == Space::L0C) return Pipe::FIX;
    return job.dst_space == Space::UB && job.src_space == Space::UB ? Pipe::V : Pipe::MTE3;
}

// Local memory is addressed in blocks; a plain copy wants GM aligned to its elements.
void set_alignment(Access& access, const Dma& job) {
    access.align = 32;
    if (access.space != Space::GM) return;
    access.align = static_cast<uint8_t>(job.byte_granular ? 1 : job.element_bytes);
    access.align_rule = "ALN-06";
}

void describe(Instr& instr, const Dma& job) {
    Access source{};
    source.base = static_cast<const uint8_t*>(job.src);
    source.row_bytes = job.row_bytes;
    source.rows = job.rows;
    source.row_step = job.src_step;
    source.space = job.src_space;
    source.role = "src";
    source.room = job.src_room;
    set_alignment(source, job);
    instr.accesses.push_back(source);

    Access target = source;
    target.base = static_cast<const uint8_t*>(job.dst);
    target.row_step = job.dst_step;
    target.space = job.dst_space;
    target.role = "dst";
    target.room = job.dst_room;
    target.write = true;
    set_alignment(target, job);
    target.atomic = job.dst_space == Space::GM && g_core->atomic.operation != 0;
    if (job.dst_space == Space::GM) {
        instr.accesses.push_back(target);
        return;
    }
    // Local memory is written in whole blocks. What is neither data nor filled is left undefined.
    const uint32_t taken = job.left_pad + job.row_bytes + job.right_pad;
    const uint32_t whole = (taken + 31) / 32 * 32;
    const bool all_defined = job.filled && job.left_pad + job.right_pad > 0;
    const auto part = [&](uint32_t from, uint32_t bytes, bool undefined) {
        if (bytes == 0) return;
        Access a = target;
        a.base += from;
        a.origin = target.base;
        a.row_bytes = bytes;
        a.align = from == 0 ? 32 : 1;
        a.undefined = undefined;
        instr.accesses.push_back(a);
    };
    if (all_defined) return part(0, whole, false);
    part(0, job.left_pad, true);
    part(job.left_pad, job.row_bytes, false);
    part(job.left_pad + job.row_bytes, whole - job.left_pad - job.row_bytes, true);
}

template <typename T> T combine(T a, T b, int operation) {
    switch (operation) {
        case 1: return static_cast<T>(a + b);
        case 2: return a > b ? a : b;
        default: return a < b ? a : b;
    }
}

template <typename T> void accumulate(uint8_t* dst, const uint8_t* src, uint32_t bytes, int operation) {
    for (uint32_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
        T a, b;
        std::memcpy(&a, dst + i, sizeof(T));
        std::memcpy(&b, src + i, sizeof(T));
        const T c = combine(a, b, operation);
        std::memcpy(dst + i, &c, sizeof(T));
    }
}

void accumulate_row(uint8_t* dst, const uint8_t* src, uint32_t bytes, const AtomicMode& mode) {
    switch (mode.type) {
        case DType::F16: return accumulate<half>(dst, src, bytes, mode.operation);
        case DType::BF16: return accumulate<bfloat16_t>(dst, src, bytes, mode.operation);
        case DType::I32: return accumulate<int32_t>(dst, src, bytes, mode.operation);
        case DType::I16: return accumulate<int16_t>(dst, src, bytes, mode.operation);
        case DType::I8: return accumulate<int8_t>(dst, src, bytes, mode.operation);
        default: return accumulate<float>(dst, src, bytes, mode.operation);
    }
}

void fill(uint8_t* at, uint32_t bytes, uint64_t element, uint32_t element_bytes) {
    for (uint32_t i = 0; i < bytes; i += element_bytes) std::memcpy(at + i, &element, std::min(element_bytes, bytes - i));
}

// What lies around the data of a row in local memory: the padding, then bytes up to the next block.
// Without padding the hardware repeats the row's first element there; padding that is not filled holds
// anything (a pattern that is a NaN in every floating type here).
void pad_row(const Dma& job, uint8_t* row) {
    const uint32_t data_end = job.left_pad + job.row_bytes;
    const uint32_t behind = (data_end + job.right_pad + 31) / 32 * 32 - data_end;
    uint64_t element = job.filled ? job.pad_value : ~0ull;
    if (job.left_pad + job.right_pad == 0) {
        element = 0;
        std::memcpy(&element, row, std::min(job.element_bytes, 8u));
    }
    fill(row, job.left_pad, element, job.element_bytes);
    fill(row + data_end, behind, element, job.element_bytes);
}

void move(const Dma& job) {
    const bool atomic = job.dst_space == Space::GM && g_core->atomic.operation != 0;
    const bool padded = job.byte_granular && job.dst_space != Space::GM;
    for (uint32_t r = 0; r < job.rows; ++r) {
        const auto* src = static_cast<const uint8_t*>(job.src) + int64_t(r) * job.src_step;
        auto* row = static_cast<uint8_t*>(job.dst) + int64_t(r) * job.dst_step;
        if (atomic) accumulate_row(row, src, job.row_bytes, g_core->atomic);
        else std::memmove(row + job.left_pad, src, job.row_bytes);
        if (padded) pad_row(job, row);
    }
}

// A copy inside local memory is a vector instruction.
void record_local_copy(const Dma& job, uint32_t site) {
    Record r;
    r.kind = RecordKind::Exec;
    r.pipe = Pipe::V;
    r.op = op_id("CopyUbToUb");
    const uint64_t bytes = uint64_t(job.rows) * ((job.row_bytes + 31) / 32 * 32);
    r.cycles = costs().vector_cycles(r.op, 4, static_cast<uint32_t>((bytes + 255) / 256));
    r.site = site;
    r.scalar_cycles = costs().issue_cycles(r.op);
    record(r);
}

void record_move(const Dma& job, Pipe pipe, uint32_t site) {
    const bool in = job.src_space == Space::GM;
    Record r;
    r.kind = RecordKind::Dma;
    r.pipe = pipe;
    r.gm_address = reinterpret_cast<uint64_t>(in ? job.src : job.dst);
    r.row_bytes = job.row_bytes;
    r.rows = static_cast<uint16_t>(std::min<uint32_t>(job.rows, 65535));
    const int64_t step = in ? job.src_step : job.dst_step;
    r.row_stride = step == job.row_bytes ? 0 : static_cast<uint32_t>(step);
    r.op = op_id(job.name);
    r.site = site;
    r.flags = static_cast<uint8_t>((job.byte_granular ? kRecordUnaligned : 0) |
                                   (job.cache_mode == 0 ? kRecordBypassL2 : 0) |
                                   (!in && g_core->atomic.operation != 0 ? kRecordAtomic : 0));
    r.scalar_cycles = costs().issue_cycles(r.op);
    record(r);
}

}  // namespace

void dma(const Dma& job) {
    if (job.rows == 0 || job.row_bytes == 0) {
        report("CPY-03", "%s of %u rows of %u B does nothing", job.name, job.rows, job.row_bytes);
        return;
    }
    if (job.src_space == Space::GM) note_gm_read(job.src);
    if (g_mode == 0) return move(job);
    const uint32_t site = NPUFORGE_SITE();
    const Pipe pipe = pipe_of(job);
    if (g_mode & kCheck) {
        Instr& instr = begin(job.name, pipe, site);
        instr.local_vector = false;
        describe(instr, job);
        if (!check_instruction(*g_core, instr)) return;
    }
    if (g_mode & kTime) {
        if (pipe == Pipe::V) record_local_copy(job, site);
        else record_move(job, pipe, site);
    }
    if ((g_mode & kNoData) == 0) move(job);
}

}  // namespace npuforge
