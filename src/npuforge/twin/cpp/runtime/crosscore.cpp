// SPDX-License-Identifier: Apache-2.0
// Cores meeting: SyncAll, cross-core flags, point-to-point tokens, cores in turn.
#include "crosscore.h"

#include <map>
#include <set>

#include "../npu/abi_more.h"
#include "check.h"
#include "report.h"
#include "session.h"

namespace npuforge {

namespace {

constexpr int kFlags = 16;
constexpr int kMostPending = 15;      // a flag counter has four bits
constexpr int kFirstSystemFlag = 11;  // SyncAll uses 11 to 14

// Sets of one flag that are not complete yet, per core, and completed ones each core may still wait for.
struct Flag {
    std::map<int, int> pending, available;
};

struct Meeting {
    int arrived = 0;
    uint64_t round = 0;
};

// Arrivals and departures at a GroupBarrier since the launch began.
struct Group {
    uint64_t arrived = 0, left = 0;
};

struct CrossState {
    std::map<const void*, Group> groups;
    std::map<int, Flag> flags;           // key: mode * 16 + flag
    std::map<uint64_t, int> tokens;      // by name
    std::map<const void*, Meeting> meetings;
    std::set<std::pair<const void*, int>> seen_slots;
    std::map<const void*, std::map<int, int>> turns;  // tokens a core may take, per workspace
    std::set<const void*> turn_workspaces, turn_taken;  // turn_taken: core 0 has had its first turn
    int user_flag_seen = -1;
    bool sync_all_seen = false;
};

CrossState g_cross;

template <typename... Values> void broken(uint32_t site, const char* rule, const char* format, Values... values) {
    if (g_mode & kCheck) report_at(site, rule, format, values...);
}

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

// Whoever waits looks again; a wrong guess blocks again at once.
void wake_all() {
    for (auto& core : g_launch->cores)
        if (core->fiber.blocked) unblock_fiber(*core);
}

void take(int& available, const std::string& what) {
    while (available == 0) block_fiber(*g_core, what);
    available -= 1;
}

void check_wave(uint32_t site, const char* what) {
    if ((g_mode & kCheck) == 0) return;
    static const auto cores = static_cast<size_t>(ConstantsFile::load(session().constants).number("cores.aiv"));
    if (g_launch->cores.size() > cores)
        broken(site, "XCR-08", "%s with %zu blocks on %zu cores: the second wave never starts", what,
                  g_launch->cores.size(), cores);
}

// Everybody of `participants` arrives, then everybody goes on.
void meet(Meeting& meeting, int participants, const std::string& what) {
    meeting.arrived += 1;
    const uint64_t round = meeting.round;
    if (meeting.arrived < participants) {
        while (meeting.round == round) block_fiber(*g_core, what);
        return;
    }
    meeting.arrived = 0;
    meeting.round += 1;
    if (g_mode & kCheck) check_sync_all(*g_launch);
    wake_all();
}

void check_flag_conflict(uint32_t site) {
    if (g_cross.sync_all_seen && g_cross.user_flag_seen >= kFirstSystemFlag)
        broken(site, "XCR-02", "flag %d is used by the kernel and by SyncAll, which takes 11 to 14", g_cross.user_flag_seen);
}

void check_flag(int mode, Pipe pipe, int flag, uint32_t site, const char* what) {
    if (flag < 0 || flag >= kFlags) broken(site, "XCR-02", "%s with flag %d: 0 to 15 exist", what, flag);
    if (flag > g_cross.user_flag_seen && flag < kFlags - 1) g_cross.user_flag_seen = flag;
    if (mode > 2) broken(site, "XCR-05", "%s in mode %d: 0, 1 and 2 exist", what, mode);
    if (pipe == Pipe::Count && mode <= 2) broken(site, "XCR-05", "%s on PIPE_ALL", what);
    check_flag_conflict(site);
}

// Cores that must set a flag before it counts. In a launch of vector cores only there is no group.
std::vector<int> setters(int mode, const Core& core) {
    std::vector<int> all;
    for (const auto& other : g_launch->cores)
        if (mode == 0 ? other->cube == core.cube : other->index == core.index) all.push_back(other->index);
    return all;
}

}  // namespace

void reset_cross_core() { g_cross = CrossState{}; }

void finish_cross_core() {
    for (const auto& [key, flag] : g_cross.flags) {
        int left = 0;
        for (const auto& [core, n] : flag.pending) left += n;
        for (const auto& [core, n] : flag.available) left += n;
        if (left > 0)
            report("XCR-04", "flag %d: %d sets were never waited for", key % kFlags, left);
    }
    for (const auto& [workspace, cores] : g_cross.turns)
        for (const auto& [core, n] : cores)
            if (n > 0 && core != 0)
                report("XCR-12", "core %d was notified %d more times than it called WaitPreBlock", core, n);
}

void sync_all(bool vectors_only) {
    const uint32_t site = NPUFORGE_SITE();
    if (!vectors_only) {
        report_at(site, "XCR-10", "SyncAll<false> in a kernel without cube cores waits for ever");
        stop_launch("SyncAll<false> in a kernel without cube cores");
    }
    check_wave(site, "SyncAll");
    g_cross.sync_all_seen = true;
    check_flag_conflict(site);
    if (g_mode & kTime) record_cross(RecordKind::SyncAll, Pipe::S, 0, 0, 0, site, kRecordVectorsOnly, "SyncAll");
    meet(g_cross.meetings[nullptr], static_cast<int>(g_launch->cores.size()), "SyncAll");
}

void sync_all_in_memory(const void* gm, uint64_t gm_bytes, const void* ub, uint32_t ub_bytes, int used_cores) {
    const uint32_t site = NPUFORGE_SITE();
    check_wave(site, "SyncAll");
    const int participants = used_cores != 0 ? used_cores : static_cast<int>(g_launch->cores.size());
    const uint64_t needed = uint64_t(g_launch->cores.size()) * 32;
    if (g_mode & kCheck) {
        if ((gm_bytes != 0 && gm_bytes < needed) || ub_bytes < needed || ub == nullptr)
            broken(site, "XCR-09", "SyncAll of %zu cores needs %llu B in GM and in UB, it has %llu and %u B",
                      g_launch->cores.size(), static_cast<unsigned long long>(needed),
                      static_cast<unsigned long long>(gm_bytes), ub_bytes);
        const auto* slot = static_cast<const int32_t*>(gm) + g_core->index * 8;
        if (g_cross.seen_slots.insert({gm, g_core->index}).second && *slot != 0)
            broken(site, "XCR-09", "the GM workspace of SyncAll holds %d instead of 0 for core %d", *slot, g_core->index);
    }
    if (g_mode & kTime) record_cross(RecordKind::SyncAll, Pipe::S, 0, 0, 0, site, kRecordVectorsOnly, "SyncAll");
    meet(g_cross.meetings[gm], participants, "SyncAll");
}

void token_set(const void* name) {
    const uint32_t site = NPUFORGE_SITE();
    const auto channel = reinterpret_cast<uint64_t>(name);
    check_wave(site, "IBSet");
    if (g_mode & kCheck) check_cross_arrive(*g_core, channel, Pipe::Count, site);
    if (g_mode & kTime)
        record_cross(RecordKind::CrossSet, Pipe::MTE3, 0, static_cast<uint16_t>(CrossMode::Token), channel, site, 0, "IBSet");
    g_cross.tokens[channel] += 1;
    wake_all();
}

void token_wait(const void* name) {
    const uint32_t site = NPUFORGE_SITE();
    const auto channel = reinterpret_cast<uint64_t>(name);
    check_wave(site, "IBWait");
    if (g_mode & kTime)
        record_cross(RecordKind::CrossWait, Pipe::S, 0, static_cast<uint16_t>(CrossMode::Token), channel, site, 0, "IBWait");
    take(g_cross.tokens[channel], "IBSet of another core");
    if (g_mode & kCheck) check_cross_depart(*g_core, channel, Pipe::Count, site);
}

// Mode 0: all cores of one kind; mode 1: the vector cores of a group; mode 2: cube and vector cores
// of a group. A flag of modes 0 and 1 is complete when every participant has set it.
void cross_set(int mode, Pipe pipe, int flag) {
    const uint32_t site = NPUFORGE_SITE();
    check_flag(mode, pipe, flag, site, "CrossCoreSetFlag");
    flag &= kFlags - 1;
    if (g_mode & kTime)
        record_cross(RecordKind::CrossSet, pipe, flag, static_cast<uint16_t>(mode), 0, site, 0, "CrossCoreSetFlag");
    if (g_mode & kCheck) check_cross_arrive(*g_core, static_cast<uint64_t>(flag), pipe, site);
    if (mode == 2) return;  // goes to the cube core, which this launch does not have
    Flag& state = g_cross.flags[mode * kFlags + flag];
    if (++state.pending[g_core->index] > kMostPending)
        broken(site, "XCR-03", "flag %d is set %d times without a wait: its counter holds 15", flag,
                  state.pending[g_core->index]);
    const std::vector<int> all = setters(mode, *g_core);
    for (const int core : all)
        if (state.pending[core] == 0) return;
    for (const int core : all) {
        state.pending[core] -= 1;
        state.available[core] += 1;
    }
    wake_all();
}

void cross_wait(int mode, Pipe pipe, int flag) {
    const uint32_t site = NPUFORGE_SITE();
    flag &= kFlags - 1;
    // The wait names the flag only; whichever mode set it counts.
    const int key = g_cross.flags.contains(kFlags + flag) && !g_cross.flags.contains(flag) ? kFlags + flag : flag;
    if (g_mode & kTime)
        record_cross(RecordKind::CrossWait, pipe, flag, static_cast<uint16_t>(mode), 0, site, 0, "CrossCoreWaitFlag");
    take(g_cross.flags[key].available[g_core->index], "CrossCoreWaitFlag " + std::to_string(flag));
    if (g_mode & kCheck) check_cross_depart(*g_core, static_cast<uint64_t>(flag), pipe, site);
}

void group_arrive(const void* name, uint64_t round, uint32_t waiting) {
    const uint32_t site = NPUFORGE_SITE();
    const auto channel = reinterpret_cast<uint64_t>(name);
    check_wave(site, "GroupBarrier");
    Group& group = g_cross.groups[name];
    // Nobody arrives for a round while cores still leave the one before.
    while (group.left < round * waiting) block_fiber(*g_core, "the cores that leave the GroupBarrier");
    if (g_mode & kCheck) {
        check_cross_depart(*g_core, channel + 3, Pipe::Count, site);
        check_cross_arrive(*g_core, channel, Pipe::Count, site);
    }
    if (g_mode & kTime)
        record_cross(RecordKind::CrossSet, Pipe::MTE3, 0, static_cast<uint16_t>(CrossMode::Token), channel, site, 0, "IBSet");
    group.arrived += 1;
    wake_all();
}

void group_wait(const void* name, uint64_t round, uint32_t arriving) {
    const uint32_t site = NPUFORGE_SITE();
    const auto channel = reinterpret_cast<uint64_t>(name);
    check_wave(site, "GroupBarrier");
    Group& group = g_cross.groups[name];
    while (group.arrived < (round + 1) * arriving) block_fiber(*g_core, "the cores that arrive at the GroupBarrier");
    if (g_mode & kCheck) {
        check_cross_depart(*g_core, channel, Pipe::Count, site);
        check_cross_arrive(*g_core, channel + 3, Pipe::Count, site);
    }
    group.left += 1;
    wake_all();
}

namespace {

// One name per workspace and core whose turn it is.
uint64_t turn_channel(const void* gm, int core) { return reinterpret_cast<uint64_t>(gm) + static_cast<uint64_t>(core) * 32 + 1; }

}  // namespace

// Cores go in the order of their index: core i waits for core i-1, and core 0 for the last one of the
// round before.
void determine_begin(const void* gm) {
    const uint32_t site = NPUFORGE_SITE();
    check_wave(site, "InitDetermineComputeWorkspace");
    pipe_barrier(Pipe::Count);
    if (g_cross.turn_workspaces.insert(gm).second) g_cross.turns[gm][0] = 1;
}

void determine_wait(const void* gm) {
    const uint32_t site = NPUFORGE_SITE();
    if (!g_cross.turn_workspaces.contains(gm))
        broken(site, "XCR-12", "WaitPreBlock before InitDetermineComputeWorkspace");
    pipe_barrier(Pipe::Count);
    const uint64_t channel = turn_channel(gm, g_core->index);
    if (g_core->index == 0 && g_cross.turn_taken.insert(gm).second) {
        g_cross.turns[gm][0] -= 1;
        return;
    }
    if (g_mode & kTime)
        record_cross(RecordKind::CrossWait, Pipe::S, 0, static_cast<uint16_t>(CrossMode::Token), channel, site, 0, "WaitPreBlock");
    take(g_cross.turns[gm][g_core->index], "NotifyNextBlock of the core before");
    if (g_mode & kCheck) check_cross_depart(*g_core, channel, Pipe::Count, site);
}

void determine_notify(const void* gm) {
    const uint32_t site = NPUFORGE_SITE();
    if (!g_cross.turn_workspaces.contains(gm))
        broken(site, "XCR-12", "NotifyNextBlock before InitDetermineComputeWorkspace");
    const int next = (g_core->index + 1) % static_cast<int>(g_launch->cores.size());
    const uint64_t channel = turn_channel(gm, next);
    if (g_mode & kCheck) check_cross_arrive(*g_core, channel, Pipe::Count, site);
    if (g_mode & kTime)
        record_cross(RecordKind::CrossSet, Pipe::MTE3, 0, static_cast<uint16_t>(CrossMode::Token), channel, site, 0, "NotifyNextBlock");
    g_cross.turns[gm][next] += 1;
    wake_all();
}

}  // namespace npuforge
