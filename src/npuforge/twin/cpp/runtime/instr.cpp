// SPDX-License-Identifier: Apache-2.0
#include "instr.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "advice.h"
#include "check.h"
#include "report.h"

namespace npuforge {

Lanes resolve(const Extent& extent, uint32_t widest, const char* name) {
    Lanes lanes{};
    lanes.per_repeat = 256 / widest;
    VectorState& state = g_core->vector;
    const uint64_t full_low = lanes.per_repeat >= 64 ? ~0ull : (1ull << lanes.per_repeat) - 1;
    const uint64_t full_high = lanes.per_repeat >= 128 ? ~0ull : 0;
    if (extent.form == Extent::Form::Register && !state.mask_set)
        report("MSK-06", "%s leaves the mask alone, and no mask was set before", name);

    const bool counted = extent.form == Extent::Form::Count || state.counter;
    if (counted) {
        int64_t total = extent.count;
        if (extent.form == Extent::Form::Register) total = static_cast<int64_t>(state.mask_low);
        if (total < 0) {
            report("VEC-06", "%s over %lld elements", name, static_cast<long long>(total));
            total = 0;
        }
        lanes.total = static_cast<uint64_t>(total);
        lanes.repeats = static_cast<uint32_t>((lanes.total + lanes.per_repeat - 1) / lanes.per_repeat);
        lanes.last_lanes = static_cast<uint32_t>(lanes.total % lanes.per_repeat);
        lanes.mask[0] = full_low;
        lanes.mask[1] = full_high;
        lanes.contiguous_lanes = true;
        if (extent.form == Extent::Form::Count) {
            // A call with a count works in counter mode and goes back to normal mode with a full mask.
            state.counter = false;
            state.mask_low = state.mask_high = ~0ull;
        } else if (extent.form == Extent::Form::Bits) {
            state.mask_low = lanes.total;
            state.mask_high = 0;
        }
        return lanes;
    }
    uint64_t low = extent.mask[0], high = extent.mask[1];
    if (extent.form == Extent::Form::Register) {
        low = state.mask_low;
        high = state.mask_high;
    } else {
        state.mask_low = low;
        state.mask_high = high;
    }
    if (extent.repeat < 0 || extent.repeat > 255)
        report("VEC-02", "%s with repeatTime %d: the field holds 0 to 255", name, extent.repeat);
    lanes.mask[0] = low & full_low;
    lanes.mask[1] = high & full_high;
    lanes.repeats = static_cast<uint32_t>(extent.repeat) & 255u;
    lanes.total = uint64_t(std::popcount(lanes.mask[0]) + std::popcount(lanes.mask[1])) * lanes.repeats;
    lanes.contiguous_lanes = lanes.mask[0] == full_low && lanes.mask[1] == full_high;
    return lanes;
}

namespace {

// Calls fn(first lane, lanes) for every run of active lanes of one repeat.
template <typename Fn> void lane_runs(const uint64_t mask[2], uint32_t per_repeat, Fn fn) {
    uint32_t lane = 0;
    const auto active = [&](uint32_t l) { return (mask[l >> 6] >> (l & 63)) & 1; };
    while (lane < per_repeat) {
        if (!active(lane)) {
            ++lane;
            continue;
        }
        uint32_t end = lane;
        while (end < per_repeat && active(end)) ++end;
        fn(lane, end - lane);
        lane = end;
    }
}

void add_lanes(Instr& instr, const Tile& tile, const Access& common, uint32_t first, uint32_t count, uint32_t repeat0,
               uint32_t repeats) {
    const uint32_t size = dtype_bytes(tile.type);
    const uint32_t per_block = 32 / size;
    auto* origin = static_cast<uint8_t*>(tile.addr) + int64_t(repeat0) * tile.repeat_stride * 32;
    while (count > 0) {
        const uint32_t block = first / per_block, inside = first % per_block;
        Access a = common;
        a.base = origin + int64_t(block) * tile.block_stride * 32 + inside * size;
        a.repeats = repeats;
        a.repeat_step = int64_t(tile.repeat_stride) * 32;
        uint32_t taken;
        if (tile.block_stride == 1) {
            taken = count;
            a.row_bytes = taken * size;
        } else if (inside == 0 && count >= per_block) {
            taken = count / per_block * per_block;
            a.row_bytes = 32;
            a.rows = taken / per_block;
            a.row_step = int64_t(tile.block_stride) * 32;
        } else {
            taken = std::min(count, per_block - inside);
            a.row_bytes = taken * size;
        }
        if (a.base != common.base) a.align = 1;  // the tile's own start was checked with its first row
        instr.accesses.push_back(a);
        first += taken;
        count -= taken;
    }
}

}  // namespace

void add_tile(Instr& instr, const Tile& tile, const Lanes& lanes, bool write, const char* role) {
    if (lanes.total == 0) return;
    Access common{};
    common.base = common.origin = static_cast<const uint8_t*>(tile.addr);
    common.repeat_bytes = lanes.per_repeat * dtype_bytes(tile.type);
    common.space = Space::UB;
    common.write = write;
    common.role = role;
    common.room = tile.room;
    common.position = tile.position;
    const uint32_t size = dtype_bytes(tile.type);
    const uint32_t repeat_blocks = std::max(1u, lanes.per_repeat * size / 32);
    if (lanes.contiguous_lanes && tile.block_stride == 1 && tile.repeat_stride == repeat_blocks) {
        common.row_bytes = static_cast<uint32_t>(lanes.total * size);
        instr.accesses.push_back(common);
        return;
    }
    const uint32_t full = lanes.last_lanes == 0 ? lanes.repeats : lanes.repeats - 1;
    if (full > 0) {
        lane_runs(lanes.mask, lanes.per_repeat,
                  [&](uint32_t first, uint32_t count) { add_lanes(instr, tile, common, first, count, 0, full); });
    }
    if (lanes.last_lanes != 0) add_lanes(instr, tile, common, 0, lanes.last_lanes, full, 1);
}

Instr& begin(const char* name, Pipe pipe, uint32_t site) {
    static Instr instr;
    instr.name = name;
    instr.pipe = pipe;
    instr.site = site;
    instr.local_vector = true;
    instr.accesses.clear();
    return instr;
}

uint16_t op_id(const char* name) {
    // Names are string literals, so the pointer identifies them.
    static std::unordered_map<const char*, uint16_t> ids;
    const auto [entry, fresh] = ids.try_emplace(name, 0);
    if (fresh) entry->second = costs().op_id(name);
    return entry->second;
}

void record(const Record& entry) {
    Record r = entry;
    r.scalar_cycles += g_core->scalar_cycles;
    g_core->scalar_cycles = 0;
    g_core->records.push_back(r);
}

bool commit(Instr& instr, uint32_t cycles, uint16_t op) {
    if ((g_mode & kCheck) && !check_instruction(*g_core, instr)) return false;
    if (g_mode & kTime) {
        Record r;
        r.kind = RecordKind::Exec;
        r.pipe = instr.pipe;
        r.cycles = cycles;
        r.op = op;
        r.site = instr.site;
        r.scalar_cycles = costs().issue_cycles(op);
        record(r);
    }
    return (g_mode & kNoData) == 0;
}

bool commit_vector(Instr& instr, const Lanes& lanes, uint32_t widest) {
    if (g_mode == 0) return true;
    uint32_t cycles = 0;
    uint16_t op = 0;
    if (g_mode & kTime) {
        op = op_id(instr.name);
        UbStream reads[4], writes[2];
        size_t n_reads = 0, n_writes = 0;
        const uint8_t* ub = g_core->spaces[static_cast<int>(Space::UB)];
        for (const Access& a : instr.accesses) {
            UbStream stream;
            stream.address = static_cast<uint32_t>(a.base - ub);
            stream.block_stride = a.rows > 1 ? static_cast<uint32_t>(a.row_step / 32) : 1;
            stream.repeat_stride = a.repeats > 1 ? static_cast<uint32_t>(a.repeat_step / 32) : 8;
            stream.blocks = std::min(8u, std::max(1u, a.rows > 1 ? a.rows : (a.row_bytes + 31) / 32));
            if (a.write && n_writes < 2) writes[n_writes++] = stream;
            if (!a.write && n_reads < 4) reads[n_reads++] = stream;
        }
        const double conflict =
            bank_conflict(std::span(reads, n_reads), std::span(writes, n_writes), lanes.repeats);
        const auto cost = [&](double factor) {
            // Only counter mode leaves lanes over, and calls with a count are in it.
            return costs().counter_cycles(op, widest, lanes.repeats, factor, lanes.last_lanes != 0);
        };
        cycles = cost(conflict);
        if (conflict > 1.0) {
            // Strides that keep a repeat in few groups are the kernel's choice; the rest is layout.
            const auto skips = [](const UbStream& s) { return s.block_stride > 1 && s.block_stride % 8 == 0; };
            const bool strided = std::any_of(reads, reads + n_reads, skips) || std::any_of(writes, writes + n_writes, skips);
            note_lost(instr.site, strided ? "OVL-08" : "OVL-07", cycles - std::min(cycles, cost(1.0)));
        }
    }
    return commit(instr, cycles, op);
}

}  // namespace npuforge
