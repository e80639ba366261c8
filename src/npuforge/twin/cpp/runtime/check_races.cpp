// SPDX-License-Identifier: Apache-2.0
// Races: accesses to the same bytes, one of them a write, that nothing orders.
#include <algorithm>
#include <bit>
#include <cstring>

#include "check_state.h"
#include "report.h"

namespace npuforge {

namespace {

// Rules of the catalogue by the pipe that comes first and the pipe that does not wait for it.
const char* rule_for(Pipe first, Pipe second) {
    constexpr const char* rules[kPipeCount][kPipeCount] = {
        //            S          V          MTE2       MTE3       MTE1       M          FIX
        /* S */    {"EVT-10",  "SYNC-08", "SYNC-10", "SYNC-12", "EVT-10",  "EVT-10",  "EVT-10"},
        /* V */    {"SYNC-07", "EVT-08",  "SYNC-02", "SYNC-03", "EVT-14",  "EVT-14",  "EVT-14"},
        /* MTE2 */ {"SYNC-09", "SYNC-01", "CPY-12",  "SYNC-05", "SYNC-13", "EVT-14",  "EVT-14"},
        /* MTE3 */ {"SYNC-11", "SYNC-04", "SYNC-06", "CPY-12",  "EVT-14",  "EVT-14",  "EVT-14"},
        /* MTE1 */ {"EVT-10",  "EVT-14",  "SYNC-14", "EVT-14",  "EVT-14",  "SYNC-15", "EVT-14"},
        /* M */    {"EVT-10",  "EVT-14",  "EVT-14",  "EVT-14",  "SYNC-16", "EVT-11",  "SYNC-17"},
        /* FIX */  {"EVT-10",  "EVT-14",  "EVT-14",  "EVT-14",  "EVT-14",  "SYNC-18", "EVT-14"},
    };
    return rules[index_of(first)][index_of(second)];
}

std::string where(const RaceContext& c) {
    constexpr const char* spaces[] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"};
    std::string text = c.gm != nullptr ? "tensor " + c.gm->buffer->name : spaces[static_cast<int>(c.space)];
    return text + " bytes " + std::to_string(c.row_offset) + " to " + std::to_string(c.row_offset + c.row_bytes);
}

// Cores that write the same values may do so in any order, and so may an instruction that puts back
// what it has read. What a move brings in counts as new even if it happens to be the same.
bool may_change_nothing(const RaceContext& c, const AccessRecord& before, bool same_core, bool wrote_before, bool writes_now) {
    if (!writes_now || c.atomic || before.atomic) return false;
    return same_core ? c.in_place : wrote_before;
}

// False when the answer depends on the values still to be written.
bool report_race(const RaceContext& c, const AccessRecord& before, bool wrote_before, bool writes_now) {
    const bool same_core = before.core == static_cast<uint32_t>(c.core.index);
    LaunchCheck& all = launch_check();
    const uint64_t race = (uint64_t(before.site) << 32 | c.site) ^ uint64_t(index_of(before.pipe)) << 29;
    if (all.reported_races.contains(race)) return true;
    const bool doubtful = may_change_nothing(c, before, same_core, wrote_before, writes_now);
    if (doubtful && !all.doubtful.empty() && all.doubtful.back().race == race && all.doubtful.back().row == c.row) {
        all.doubtful.back().contested.emplace_back(c.cell_offset, c.cell_bytes);
        return false;
    }
    Finding finding;
    finding.rule = same_core ? rule_for(before.pipe, c.pipe) : wrote_before && writes_now ? "MEM-06" : "SYNC-22";
    finding.site = c.site;
    finding.other_site = before.site;
    finding.pipe = pipe_name(c.pipe);
    finding.other_pipe = pipe_name(before.pipe);
    finding.message = std::string(c.name) + " (" + finding.pipe + ") " + (writes_now ? "writes " : "reads ") +
                      where(c) + (c.role[0] != 0 ? std::string(" as ") + c.role : "") + ", which " + before.name +
                      " (" + finding.other_pipe + ")" +
                      (same_core ? "" : " of core " + std::to_string(before.core)) + (wrote_before ? " writes" : " reads") +
                      " with nothing between to order them";
    if (doubtful) {
        all.doubtful.push_back({std::move(finding), &c.core, race, c.row, {c.row, c.row + c.row_bytes}, {{c.cell_offset, c.cell_bytes}}});
        return false;
    }
    all.reported_races.insert(race);
    add_finding(std::move(finding));
    return true;
}

void against(RaceContext& c, uint32_t number, bool wrote_before, bool writes_now) {
    if (number == 0 || number == c.self || number == c.fine) return;
    const AccessRecord& before = launch_check().records[number];
    const bool both_accumulate = c.atomic && before.atomic && wrote_before && writes_now;
    // A store may come before or after a look at the word; who has seen it relies on it (receive_line).
    const bool flag_word = before.core != static_cast<uint32_t>(c.core.index) && before.pipe == Pipe::S && c.pipe == Pipe::S &&
                           (wrote_before ? c.poll : before.poll);
    const bool settled = both_accumulate || flag_word || is_ordered(c.core, c.pipe, before) ||
                         report_race(c, before, wrote_before, writes_now);
    if (settled) c.fine = number;
}

void add_reader(Cell& cell, RaceContext& c) {
    const auto& records = launch_check().records;
    size_t place = cell.readers.size();
    for (size_t i = 0; i < cell.readers.size(); ++i) {
        const uint32_t reader = cell.readers[i];
        if (reader == c.self) return;
        // Whoever is ordered after this read is ordered after a read that came before it.
        if (reader == 0 || (records[reader].core == static_cast<uint32_t>(c.core.index) && records[reader].pipe == c.pipe)) {
            place = i;
            break;
        }
    }
    if (place == cell.readers.size()) place = static_cast<size_t>(c.self) % cell.readers.size();
    cell.readers[place] = c.self;
}

void read_cell(Cell& cell, RaceContext& c) {
    against(c, cell.writer, true, false);
    if (cell.readers[0] != c.self) add_reader(cell, c);
}

void write_cell(Cell& cell, RaceContext& c) {
    c.in_place = std::find(cell.readers.begin(), cell.readers.end(), c.self) != cell.readers.end();
    against(c, cell.writer, true, true);
    for (const uint32_t reader : cell.readers) against(c, reader, false, true);
    cell = Cell{c.self, {}};
}

// Applies fn(cell, first byte, bytes) to the cell of a whole block, or to the cells of its bytes in `mask`.
template <typename Fn> void for_cells(Shadow& shadow, ShadowBlock& block, uint32_t mask, Fn fn) {
    if (mask == kAllBytes && block.split == 0) return fn(block.cell, 0u, kShadowBlock);
    Shadow::Bytes& cells = shadow.bytes_of(block);
    for (; mask != 0; mask &= mask - 1) {
        const auto first = static_cast<uint32_t>(std::countr_zero(mask));
        fn(cells[first], first, 1u);
    }
}

}  // namespace

void settle_writes() {
    LaunchCheck& all = launch_check();
    if (all.doubtful.empty()) return;
    Core* const now = g_core;
    for (DoubtfulWrite& write : all.doubtful) {
        const bool changed = std::any_of(write.contested.begin(), write.contested.end(), [&](const auto& part) {
            return std::memcmp(write.row + part.first, write.before.data() + part.first, part.second) != 0;
        });
        if (!changed || !all.reported_races.insert(write.race).second) continue;
        g_core = write.core;
        add_finding(std::move(write.finding));
    }
    g_core = now;
    all.doubtful.clear();
}

void touch_read(Shadow& shadow, uint64_t offset, uint64_t bytes, RaceContext& c) {
    c.row_offset = offset;
    c.row_bytes = bytes;
    shadow.visit(static_cast<int64_t>(offset), bytes, [&](ShadowBlock& block, uint32_t mask, uint64_t) {
        if (block.split == 0 && block.cell.readers[0] == c.self) return;
        for_cells(shadow, block, mask, [&](Cell& cell, uint32_t, uint32_t) { read_cell(cell, c); });
    });
}

void touch_write(Shadow& shadow, uint64_t offset, uint64_t bytes, const uint8_t* row, RaceContext& c) {
    c.row_offset = offset;
    c.row_bytes = bytes;
    c.row = row;
    shadow.visit(static_cast<int64_t>(offset), bytes, [&](ShadowBlock& block, uint32_t mask, uint64_t start) {
        for_cells(shadow, block, mask, [&](Cell& cell, uint32_t first, uint32_t size) {
            c.cell_offset = start + first - offset;
            c.cell_bytes = size;
            write_cell(cell, c);
        });
        if (mask == kAllBytes && block.split != 0) {
            block.cell = Cell{c.self, {}};
            shadow.unite(block);
        }
    });
}

}  // namespace npuforge
