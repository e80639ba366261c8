// SPDX-License-Identifier: Apache-2.0
// Happens-before: what a pipe may rely on, learnt from flags, barriers and meetings of cores.
#include <algorithm>

#include "check_state.h"
#include "report.h"

namespace npuforge {

namespace {

constexpr Pipe kAllPipes[] = {Pipe::S, Pipe::V, Pipe::MTE2, Pipe::MTE3, Pipe::MTE1, Pipe::M, Pipe::FIX};

int flag_key(Pipe from, Pipe to, int event) { return (index_of(from) * kPipeCount + index_of(to)) * 256 + (event & 255); }

// What others may rely on once `pipe` has come this far. Later work of the pipe is a new epoch.
Clock publish(CheckState& state, Pipe pipe) {
    const int p = index_of(pipe);
    Clock clock = state.clocks[p];
    clock.own[p] = state.epochs[p]++;
    return clock;
}

// The scalar unit issues for all pipes in program order: what it has waited for, later instructions
// of every pipe may rely on.
void receive(CheckState& state, Pipe pipe, const Clock& clock) {
    if (pipe != Pipe::S) return state.clocks[index_of(pipe)].join(clock);
    for (Clock& mine : state.clocks) mine.join(clock);
}

void join_all_pipes(CheckState& state) {
    Clock all;
    for (const Pipe pipe : kAllPipes) all.join(publish(state, pipe));
    for (Clock& mine : state.clocks) mine.join(all);
}

std::string pair_name(Pipe from, Pipe to) { return std::string(pipe_name(from)) + "_" + pipe_name(to); }

// A clock as the other cores see it: everything sits in the world.
Clock abroad(const Core& core, const Clock& clock) {
    auto world = std::make_shared<World>(clock.world != nullptr ? *clock.world : World());
    world->resize(std::max(world->size(), g_launch->cores.size() * kPipeCount));
    for (int p = 0; p < kPipeCount; ++p) {
        Epoch& known = (*world)[static_cast<size_t>(core.index) * kPipeCount + p];
        known = std::max(known, clock.own[p]);
    }
    Clock out;
    out.world = std::move(world);
    return out;
}

void report_double_set(CheckState& state, const FlagState::Set& first, Pipe from, Pipe to, int event, uint32_t site,
                       bool from_queue) {
    Finding finding;
    const bool mixed = first.from_queue != from_queue;
    const bool fetched = state.fetched.contains(flag_key(from, to, event));
    finding.rule = mixed ? "EVT-04" : fetched ? "EVT-05" : "EVT-03";
    finding.message = "event " + pair_name(from, to) + " id " + std::to_string(event) +
                      (mixed     ? " is set by hand while a queue uses the same id"
                       : fetched ? " is set twice without a wait between; FetchEventID gave the same id twice"
                                 : " is set twice without a wait between");
    finding.site = site;
    finding.other_site = first.site;
    add_finding(std::move(finding));
}

}  // namespace

const char* pipe_name(Pipe pipe) {
    constexpr const char* names[] = {"S", "V", "MTE2", "MTE3", "MTE1", "M", "FIX"};
    return pipe == Pipe::Count ? "ALL" : names[index_of(pipe)];
}

void Clock::join(const Clock& other) {
    for (int p = 0; p < kPipeCount; ++p) own[p] = std::max(own[p], other.own[p]);
    if (other.world == nullptr || other.world == world) return;
    if (world == nullptr) {
        world = other.world;
        return;
    }
    auto merged = std::make_shared<World>(*world);
    merged->resize(std::max(merged->size(), other.world->size()));
    for (size_t i = 0; i < other.world->size(); ++i) (*merged)[i] = std::max((*merged)[i], (*other.world)[i]);
    world = std::move(merged);
}

bool is_ordered(Core& core, Pipe pipe, const AccessRecord& before) {
    CheckState& state = state_of(core);
    const Clock& clock = state.clocks[index_of(pipe)];
    if (before.core != static_cast<uint32_t>(core.index)) {
        if (clock.world == nullptr) return false;
        const size_t at = size_t(before.core) * kPipeCount + static_cast<size_t>(index_of(before.pipe));
        return at < clock.world->size() && (*clock.world)[at] >= before.epoch;
    }
    if (clock.own[index_of(before.pipe)] >= before.epoch) return true;
    if (before.pipe == pipe) {
        // The cube's pipes belong to rules of their own.
        if (pipe == Pipe::V) return g_launch->auto_sync;
        return pipe != Pipe::MTE2 && pipe != Pipe::MTE3;
    }
    if (!g_launch->auto_sync) return false;
    if (before.pipe == Pipe::S) return true;
    if (pipe != Pipe::S) return false;
    // The compiler makes the scalar unit wait for the other pipe here.
    receive(state, Pipe::S, publish(state, before.pipe));
    return true;
}

namespace {

// Names of channels: flags are small numbers, tokens are addresses of 32 B slots, this is neither.
uint64_t line_channel(uint64_t line) { return line * 64 + 2; }

}  // namespace

void publish_line(Core& core, uint64_t line) {
    launch_check().channels[line_channel(line)].join(abroad(core, publish(state_of(core), Pipe::S)));
}

void receive_line(Core& core, uint64_t line) {
    const auto found = launch_check().channels.find(line_channel(line));
    if (found != launch_check().channels.end()) receive(state_of(core), Pipe::S, found->second);
}

uint32_t new_record(Core& core, Pipe pipe, const char* name, uint32_t site, bool atomic, bool poll) {
    CheckState& state = state_of(core);
    LaunchCheck& all = launch_check();
    const Epoch epoch = state.epochs[index_of(pipe)];
    // Instructions of a pipe that is ordered in itself and come from one place share a record.
    const bool shared = pipe == Pipe::S || (pipe == Pipe::V && g_launch->auto_sync);
    uint32_t& recent = state.recent[(site * 4 + static_cast<uint32_t>(index_of(pipe))) % state.recent.size()];
    all.tick += 1;
    if (shared && recent != 0) {
        AccessRecord& r = all.records[recent];
        if (r.site == site && r.pipe == pipe && r.epoch == epoch && r.name == name && r.atomic == atomic && r.poll == poll) {
            r.tick = all.tick;
            return recent;
        }
    }
    const auto number = static_cast<uint32_t>(all.records.size());
    all.records.push_back({name, all.tick, site, static_cast<uint32_t>(core.index), epoch, pipe, atomic, poll});
    if (shared) recent = number;
    return number;
}

void check_set_flag(Core& core, Pipe from, Pipe to, int event, uint32_t site, bool from_queue) {
    CheckState& state = state_of(core);
    if (event < 0 || event > 7) {
        report_at(site, "EVT-02", "SetFlag %s with event id %d: ids are 0 to 7", pair_name(from, to).c_str(), event);
        return;
    }
    FlagState& flag = state.flags[flag_key(from, to, event)];
    Clock clock = publish(state, from);
    if (!flag.waiting.empty()) {
        flag.waiting.pop_front();
        receive(state, to, clock);
        return;
    }
    if (!flag.set.empty()) report_double_set(state, flag.set.back(), from, to, event, site, from_queue);
    flag.set.push_back({std::move(clock), site, from_queue});
}

void check_wait_flag(Core& core, Pipe from, Pipe to, int event, uint32_t site, bool) {
    CheckState& state = state_of(core);
    if (event < 0 || event > 7) {
        report_at(site, "EVT-02", "WaitFlag %s with event id %d: ids are 0 to 7", pair_name(from, to).c_str(), event);
        return;
    }
    FlagState& flag = state.flags[flag_key(from, to, event)];
    if (!flag.set.empty()) {
        receive(state, to, flag.set.front().clock);
        flag.set.pop_front();
        return;
    }
    if (to == Pipe::S) {
        report_at(site, "EVT-01", "WaitFlag %s id %d stops the scalar unit for ever: nothing has set it", pair_name(from, to).c_str(),
                  event);
        return;
    }
    flag.waiting.push_back(site);
}

void check_barrier(Core& core, Pipe pipe, uint32_t) {
    CheckState& state = state_of(core);
    if (pipe == Pipe::Count) return join_all_pipes(state);
    Clock clock = publish(state, pipe);
    state.clocks[index_of(pipe)].join(clock);
}

void check_event_taken(Core& core, Pipe from, Pipe to, int event, bool reserved, uint32_t site) {
    CheckState& state = state_of(core);
    const int key = flag_key(from, to, event);
    if (reserved) state.events[key] = site;
    else state.fetched.insert(key);
}

void check_event_released(Core& core, Pipe from, Pipe to, int event, uint32_t site) {
    if (state_of(core).events.erase(flag_key(from, to, event)) == 0)
        report_at(site, "EVT-04", "ReleaseEventID of %s id %d, which AllocEventID has not given", pair_name(from, to).c_str(), event);
}

void check_flags_at_end(Core& core) {
    for (const auto& [key, flag] : state_of(core).flags) {
        const auto from = static_cast<Pipe>(key / 256 / kPipeCount), to = static_cast<Pipe>(key / 256 % kPipeCount);
        for (const uint32_t site : flag.waiting)
            report_at(site, "EVT-01", "WaitFlag %s id %d is never satisfied: nothing sets it and the kernel hangs",
                      pair_name(from, to).c_str(), key % 256);
        for (const FlagState::Set& set : flag.set)
            if (!set.from_queue)
                report_at(set.site, "EVT-01", "SetFlag %s id %d is never waited for: the flag leaks into the next kernel",
                          pair_name(from, to).c_str(), key % 256);
    }
    for (const auto& [key, site] : state_of(core).events)
        report_at(site, "EVT-04", "event id %d of AllocEventID<%s> is never released", key % 256,
                  pair_name(static_cast<Pipe>(key / 256 / kPipeCount), static_cast<Pipe>(key / 256 % kPipeCount)).c_str());
}

void check_cross_arrive(Core& core, uint64_t channel, Pipe pipe, uint32_t) {
    CheckState& state = state_of(core);
    if (pipe == Pipe::Count) join_all_pipes(state);
    launch_check().channels[channel].join(abroad(core, publish(state, pipe == Pipe::Count ? Pipe::S : pipe)));
}

void check_cross_depart(Core& core, uint64_t channel, Pipe pipe, uint32_t) {
    receive(state_of(core), pipe == Pipe::Count ? Pipe::S : pipe, launch_check().channels[channel]);
}

void check_sync_all(Launch& launch) {
    Clock all;
    for (auto& core : launch.cores) {
        if (core->check == nullptr) continue;
        join_all_pipes(state_of(*core));
        all.join(abroad(*core, publish(state_of(*core), Pipe::S)));
    }
    for (auto& core : launch.cores)
        if (core->check != nullptr) receive(state_of(*core), Pipe::S, all);
}

}  // namespace npuforge
