// SPDX-License-Identifier: Apache-2.0
// Sort32, MrgSort, Extract: records of a value and an index, 8 B each, in descending order.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../npu/abi_more.h"
#include "report.h"
#include "rows.h"

namespace npuforge {

namespace {

constexpr uint32_t kRecord = 8;

float value_of(const uint8_t* record, DType type) {
    if (type == DType::F16) {
        uint16_t bits;
        std::memcpy(&bits, record, 2);
        return half_bits_to_float(bits);
    }
    float value;
    std::memcpy(&value, record, 4);
    return value;
}

Access range(const Tile& tile, uint64_t bytes, bool write, const char* role, uint32_t align, const char* rule) {
    Access a{};
    a.base = static_cast<const uint8_t*>(tile.addr);
    a.row_bytes = static_cast<uint32_t>(bytes);
    a.write = write;
    a.role = role;
    a.room = tile.room;
    a.position = tile.position;
    a.align = static_cast<uint8_t>(std::min(align, 128u));
    a.align_rule = rule;
    return a;
}

bool commit_repeats(Instr& instr, uint32_t repeats, uint32_t widest) {
    Lanes lanes{};
    lanes.repeats = repeats;
    return commit_vector(instr, lanes, widest);
}

}  // namespace

void sort32(const Tile& dst, const Tile& values, const Tile& indices, int32_t repeat) {
    if (repeat < 0 || repeat > 255) report("VEC-02", "Sort32 with repeatTime %d: the field holds 0 to 255", repeat);
    const uint32_t repeats = static_cast<uint32_t>(repeat) & 255u;
    if (repeats == 0) return;
    const uint32_t size = dtype_bytes(values.type);
    if (g_mode != 0) {
        Instr& instr = begin("Sort32", Pipe::V, NPUFORGE_SITE());
        instr.accesses.push_back(range(values, repeats * 32ull * size, false, "src0", 32, "ALN-10"));
        instr.accesses.push_back(range(indices, repeats * 32ull * 4, false, "src1", 32, "ALN-10"));
        instr.accesses.push_back(range(dst, repeats * 32ull * kRecord, true, "dst", 32, "ALN-10"));
        if (!commit_repeats(instr, repeats, size)) return;
    }
    for (uint32_t r = 0; r < repeats; ++r) {
        const auto* from = static_cast<const uint8_t*>(values.addr) + r * 32 * size;
        const auto* index = static_cast<const uint8_t*>(indices.addr) + r * 32 * 4;
        uint8_t records[32 * kRecord] = {};
        uint8_t order[32];
        for (uint32_t i = 0; i < 32; ++i) {
            std::memcpy(records + i * kRecord, from + i * size, size);
            std::memcpy(records + i * kRecord + 4, index + i * 4, 4);
            order[i] = static_cast<uint8_t>(i);
        }
        // Equal values keep their order; a NaN counts as the largest value.
        std::stable_sort(order, order + 32, [&](uint8_t a, uint8_t b) {
            const float x = value_of(records + a * kRecord, values.type), y = value_of(records + b * kRecord, values.type);
            return std::isnan(x) ? !std::isnan(y) : x > y;
        });
        auto* out = static_cast<uint8_t*>(dst.addr) + r * 32 * kRecord;
        for (uint32_t i = 0; i < 32; ++i) std::memcpy(out + i * kRecord, records + order[i] * kRecord, kRecord);
    }
}

void merge_sort(const MergeJob& job, const char* name) {
    if (job.valid != 3 && job.valid != 7 && job.valid != 15)
        report("SRT-02", "%s with validBit %u: 3, 7 and 15 are valid", name, job.valid);
    const uint32_t lists = job.valid & 8 ? 4 : job.valid & 4 ? 3 : 2;
    uint64_t total = 0;
    for (uint32_t i = 0; i < lists; ++i) {
        total += job.lengths[i];
        if (job.lengths[i] > 4095) report("SRT-02", "%s of a list of %u records: at most 4095", name, job.lengths[i]);
    }
    uint32_t repeats = static_cast<uint32_t>(job.repeats) & 255u;
    if (repeats > 1) {
        bool chained = job.valid == 15 && !job.suspend;
        for (uint32_t i = 1; i < 4; ++i)
            chained = chained && job.lengths[i] == job.lengths[0] &&
                      static_cast<uint8_t*>(job.lists[i].addr) ==
                          static_cast<uint8_t*>(job.lists[0].addr) + uint64_t(i) * job.lengths[0] * kRecord;
        if (!chained)
            report("SRT-02", "%s repeats %u times, but only four contiguous lists of one length can repeat", name, repeats);
    }
    if (repeats == 0 || total == 0) return;
    if (g_mode != 0) {
        Instr& instr = begin(name, Pipe::V, NPUFORGE_SITE());
        for (uint32_t i = 0; i < lists; ++i) {
            if (job.lengths[i] == 0) continue;
            Access a = range(job.lists[i], uint64_t(job.lengths[i]) * kRecord, false, "src", 8, "ALN-09");
            a.repeats = repeats;
            a.repeat_step = static_cast<int64_t>(total * kRecord);
            instr.accesses.push_back(a);
        }
        instr.accesses.push_back(range(job.dst, total * kRecord * repeats, true, "dst", 32, "ALN-09"));
        if (!commit_repeats(instr, static_cast<uint32_t>((total * repeats + 31) / 32), 4)) {
            // Without data: how far a suspended merge got depends on values.
            const uint16_t part = job.suspend && g_launch->seed != 1 ? 2 : 1;
            g_launch->value_read = g_launch->value_read || job.suspend;
            for (uint32_t i = 0; i < 4; ++i) g_core->vector.merged[i] = i < lists ? job.lengths[i] / part : 0;
            return;
        }
    }
    const DType type = job.dst.type;
    auto* out = static_cast<uint8_t*>(job.dst.addr);
    uint32_t taken[4] = {};
    for (uint32_t r = 0; r < repeats; ++r) {
        const uint64_t shift = r * total * kRecord;
        std::fill(std::begin(taken), std::end(taken), 0u);
        bool exhausted = false;
        for (uint64_t n = 0; n < total && !(exhausted && job.suspend); ++n) {
            int winner = -1;
            float best = 0;
            for (uint32_t i = 0; i < lists; ++i) {
                if (taken[i] >= job.lengths[i]) continue;
                const float v = value_of(static_cast<const uint8_t*>(job.lists[i].addr) + shift + uint64_t(taken[i]) * kRecord, type);
                if (winner < 0 || v > best) {
                    winner = static_cast<int>(i);
                    best = v;
                }
            }
            const auto* from = static_cast<const uint8_t*>(job.lists[winner].addr) + shift + uint64_t(taken[winner]) * kRecord;
            std::memmove(out, from, kRecord);
            out += kRecord;
            exhausted = ++taken[winner] >= job.lengths[winner];
        }
    }
    for (uint32_t i = 0; i < 4; ++i) g_core->vector.merged[i] = static_cast<uint16_t>(taken[i]);
}

void merged_counts(uint16_t (&counts)[4]) { std::copy_n(g_core->vector.merged, 4, counts); }

void extract_sorted(const Tile& values, const Tile& indices, const Tile& sorted, int32_t repeat) {
    const uint32_t repeats = static_cast<uint32_t>(repeat) & 255u;
    if (repeat < 0 || repeat > 255) report("VEC-02", "Extract with repeatTime %d: the field holds 0 to 255", repeat);
    if (repeats == 0) return;
    const uint32_t size = dtype_bytes(values.type), count = repeats * 32;
    if (g_mode != 0) {
        // Two GatherMask instructions: the values, then the indices.
        Instr& instr = begin(g_mode & kTime ? "GatherMask" : "Extract", Pipe::V, NPUFORGE_SITE());
        instr.accesses.push_back(range(sorted, uint64_t(count) * kRecord, false, "sorted", 32, "ALN-01"));
        instr.accesses.push_back(range(values, uint64_t(count) * size, true, "dstValue", 32, "ALN-01"));
        instr.accesses.push_back(range(indices, uint64_t(count) * 4, true, "dstIndex", 32, "ALN-01"));
        if (!commit_repeats(instr, 2 * repeats, 4)) return;
    }
    const auto* from = static_cast<const uint8_t*>(sorted.addr);
    auto* value = static_cast<uint8_t*>(values.addr);
    auto* index = static_cast<uint8_t*>(indices.addr);
    for (uint32_t i = 0; i < count; ++i) {
        uint8_t record[kRecord];
        std::memcpy(record, from + i * kRecord, kRecord);
        std::memcpy(value + i * size, record, size);
        std::memcpy(index + i * 4, record + 4, 4);
    }
}

}  // namespace npuforge
