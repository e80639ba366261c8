// SPDX-License-Identifier: Apache-2.0
// Cores meeting: SyncAll, cross-core flags, point-to-point tokens.
#include <map>

#include "check.h"
#include "report.h"

namespace npuforge {

namespace {

// Counts of tokens that were set and not yet waited for, and who waits. A wait consumes one.
struct Channel {
    int available = 0;
};

std::map<uint64_t, Channel>& channels() {
    static std::map<uint64_t, Channel> all;
    return all;
}

int g_arrived = 0;

void record_cross(RecordKind kind, Pipe pipe, int flag, uint16_t mode, uint64_t name, uint32_t site, uint8_t flags,
                  const char* op) {
    Record r;
    r.kind = kind;
    r.pipe = pipe;
    r.event = static_cast<uint8_t>(flag);
    r.rows = mode;
    r.gm_address = name;
    r.site = site;
    r.flags = flags;
    r.op = op_id(op);
    r.scalar_cycles = costs().issue_cycles(r.op);
    record(r);
}

void take(uint64_t name, const std::string& what) {
    while (channels()[name].available == 0) block_fiber(*g_core, what);
    channels()[name].available -= 1;
}

void give(uint64_t name) {
    channels()[name].available += 1;
    // Whoever waits looks again; a wrong guess blocks again at once.
    for (auto& core : g_launch->cores)
        if (core->fiber.blocked) unblock_fiber(*core);
}

}  // namespace

void reset_cross_core() {
    channels().clear();
    g_arrived = 0;
}

void sync_all(bool vectors_only) {
    const uint32_t site = NPUFORGE_SITE();
    if (g_mode & kTime)
        record_cross(RecordKind::SyncAll, Pipe::S, 0, 0, 0, site, vectors_only ? kRecordVectorsOnly : 0, "SyncAll");
    const int participants = static_cast<int>(g_launch->cores.size());
    g_arrived += 1;
    if (g_arrived < participants) {
        block_fiber(*g_core, "SyncAll");
        return;
    }
    g_arrived = 0;
    if (g_mode & kCheck) check_sync_all(*g_launch);
    for (auto& core : g_launch->cores) unblock_fiber(*core);
}

void token_set(const void* name) {
    const uint32_t site = NPUFORGE_SITE();
    const auto channel = reinterpret_cast<uint64_t>(name);
    if (g_mode & kCheck) check_cross_arrive(*g_core, channel, Pipe::Count, site);
    if (g_mode & kTime)
        record_cross(RecordKind::CrossSet, Pipe::MTE3, 0, static_cast<uint16_t>(CrossMode::Token), channel, site, 0, "IBSet");
    give(channel);
}

void token_wait(const void* name) {
    const uint32_t site = NPUFORGE_SITE();
    const auto channel = reinterpret_cast<uint64_t>(name);
    if (g_mode & kTime)
        record_cross(RecordKind::CrossWait, Pipe::S, 0, static_cast<uint16_t>(CrossMode::Token), channel, site, 0, "IBWait");
    take(channel, "a token of another core");
    if (g_mode & kCheck) check_cross_depart(*g_core, channel, Pipe::Count, site);
}

// Mode 0: all cores of one kind; mode 1: the vector cores of a group; mode 2: cube and vector cores
// of a group. A flag of modes 0 and 1 is complete when every participant has set it.
void cross_set(int mode, Pipe pipe, int flag) {
    const uint32_t site = NPUFORGE_SITE();
    if (g_mode & kTime)
        record_cross(RecordKind::CrossSet, pipe, flag, static_cast<uint16_t>(mode), 0, site, 0, "CrossCoreSetFlag");
    const uint64_t channel = 0x8000000000000000ull | static_cast<uint64_t>(flag & 15);
    if (g_mode & kCheck) check_cross_arrive(*g_core, channel, pipe, site);
    Channel& all = channels()[channel | 0x1000];
    all.available += 1;
    if (all.available < static_cast<int>(g_launch->cores.size())) return;
    all.available = 0;
    for (auto& core : g_launch->cores) channels()[channel | (uint64_t(core->index) << 16)].available += 1;
    for (auto& core : g_launch->cores)
        if (core->fiber.blocked) unblock_fiber(*core);
}

void cross_wait(int mode, Pipe pipe, int flag) {
    const uint32_t site = NPUFORGE_SITE();
    if (g_mode & kTime)
        record_cross(RecordKind::CrossWait, pipe, flag, static_cast<uint16_t>(mode), 0, site, 0, "CrossCoreWaitFlag");
    const uint64_t channel = 0x8000000000000000ull | static_cast<uint64_t>(flag & 15);
    take(channel | (uint64_t(g_core->index) << 16), "CrossCoreWaitFlag " + std::to_string(flag));
    if (g_mode & kCheck) check_cross_depart(*g_core, channel, pipe, site);
}

}  // namespace npuforge
