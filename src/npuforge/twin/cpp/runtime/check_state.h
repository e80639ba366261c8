// SPDX-License-Identifier: Apache-2.0
// What the checker remembers: clocks of the pipes, records of accesses, shadow of every memory.
// Shared by the check_*.cpp files only.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "check.h"
#include "check_shadow.h"
#include "report.h"

namespace npuforge {

inline constexpr int kPipeCount = static_cast<int>(Pipe::Count);
using Epoch = uint32_t;
// What is known of every pipe of every core of the launch.
using World = std::vector<Epoch>;

// A pipe works in epochs; an epoch ends when the pipe publishes what it has done. A clock holds, for
// every pipe of its core, the last epoch that is known to be over.
struct Clock {
    std::array<Epoch, kPipeCount> own{};
    std::shared_ptr<const World> world;  // other cores; none until cores have met
    void join(const Clock& other);
};

// An instruction (or a run of scalar accesses) that touched memory; the shadow names it by number.
struct AccessRecord {
    const char* name = "";
    uint64_t tick = 0;   // when it last happened, in the order the twin ran things
    uint32_t site = 0;
    uint32_t core = 0;
    Epoch epoch = 0;
    Pipe pipe = Pipe::S;
    bool atomic = false;
    bool poll = false;   // a scalar load that looks whether another core has stored something
};

// Why bytes hold no defined value, and the first instruction that used them.
struct Origin {
    enum class Kind : uint8_t { Defined, Never, StaleSlot, Padding, Scratch, Workspace, Output } kind;
    uint32_t site = 0;        // 0: nobody has used them yet
    const char* name = "";
    uint32_t made_by = 0;     // call site that left them undefined, where there is one
};

struct Region {
    enum class Kind : uint8_t { Buffer, Slot } kind = Kind::Buffer;
    uint32_t offset = 0, bytes = 0;
    bool live = true;         // a slot of a queue is live from AllocTensor to FreeTensor
    uint32_t freed_at = 0;    // call site
};

struct FlagState {
    struct Set {
        Clock clock;
        uint32_t site;
        bool from_queue;
    };
    std::deque<Set> set;             // not waited for yet
    std::deque<uint32_t> waiting;    // sites of waits that came before their set
};

struct SlotState {
    uint8_t state = 0;   // Slot::state as the checker last saw it
    uint8_t position = 0;
    uint32_t site = 0;   // of AllocTensor
};

struct CheckState {
    std::array<Clock, kPipeCount> clocks;
    std::array<Epoch, kPipeCount> epochs;     // the current epoch of each pipe, from 1
    std::array<Shadow, 8> local;          // by Space
    std::vector<Region> regions;          // index 0 is no region
    std::unordered_map<int, FlagState> flags;
    std::map<const uint8_t*, SlotState> slots;
    std::map<int, uint32_t> events;       // ids from AllocEventID by pair and id: site
    std::unordered_set<int> fetched;      // ids from FetchEventID
    std::unordered_map<uint64_t, uint64_t> cached_lines;  // GM lines in the data cache: tick
    std::unordered_set<uint64_t> dropped_lines;           // GM lines the kernel has invalidated
    bool dropped_all = false;
    std::array<uint32_t, 64> recent{};    // record numbers, for pipes that are ordered in themselves
};

struct GmShadow {
    const GmBuffer* buffer = nullptr;
    Shadow shadow;
    bool tracked = true;       // inputs are not written, so nothing can race
};

// A race that harms only if the write changes something, until its values are known.
struct DoubtfulWrite {
    Finding finding;
    Core* core;
    uint64_t race;                // key in reported_races
    const uint8_t* row;           // the stretch that is written
    std::vector<uint8_t> before;
    std::vector<std::pair<uint64_t, uint32_t>> contested;  // offset in the row, bytes
};

struct LaunchCheck {
    std::vector<AccessRecord> records;   // number 0 is nobody
    std::vector<Origin> origins;         // number 0 is defined
    std::vector<GmShadow> gm;            // by address
    std::unordered_map<uint64_t, Clock> channels;          // between cores
    std::unordered_map<uint64_t, uint32_t> dirty_lines;    // GM lines written by scalars: core
    std::unordered_set<uint64_t> reported_races;
    std::vector<DoubtfulWrite> doubtful;
    uint64_t tick = 0;
};
LaunchCheck& launch_check();

inline CheckState& state_of(Core& core) { return *core.check; }
inline int index_of(Pipe pipe) { return static_cast<int>(pipe); }
const char* pipe_name(Pipe pipe);

// check_order.cpp
bool is_ordered(Core& core, Pipe pipe, const AccessRecord& before);
uint32_t new_record(Core& core, Pipe pipe, const char* name, uint32_t site, bool atomic, bool poll = false);
// A core's stores to a line become visible; another core's load after that relies on what came before.
void publish_line(Core& core, uint64_t line);
void receive_line(Core& core, uint64_t line);

// check_races.cpp
struct RaceContext {
    Core& core;
    Pipe pipe;
    uint32_t self;          // record number
    const char* name;
    uint32_t site;
    Space space;
    const GmShadow* gm;     // for accesses to GM
    const char* role;
    bool atomic;
    bool poll = false;      // AccessRecord::poll
    uint32_t fine = 0;      // the record last found to be ordered (or reported)
    uint64_t row_offset = 0, row_bytes = 0;  // the stretch being looked at, for messages
    const uint8_t* row = nullptr;            // where it lies, for writes
    uint64_t cell_offset = 0;                // the cell in it, for writes
    uint32_t cell_bytes = 0;
    bool in_place = false;                   // the writing instruction reads the cell as well
};
void touch_read(Shadow& shadow, uint64_t offset, uint64_t bytes, RaceContext& context);
void touch_write(Shadow& shadow, uint64_t offset, uint64_t bytes, const uint8_t* row, RaceContext& context);
void settle_writes();  // the last instruction has written its results

// check_memory.cpp
bool check_local_bounds(Core& core, const Instr& instr, const Access& access);
std::string operand_text(const Instr& instr, const Access& access);

// check_gm.cpp
GmShadow* find_gm(const void* addr);
bool check_gm_bounds(Core& core, const Instr& instr, const Access& access);
bool is_poll(Core& core, const GmShadow& gm, uint64_t offset);
void check_cache_read(Core& core, GmShadow& gm, uint64_t offset, uint32_t bytes, uint32_t site);
void check_cache_write(Core& core, GmShadow& gm, uint64_t offset, uint32_t bytes, uint32_t site);
void check_cache_copy(Core& core, GmShadow& gm, uint64_t offset, uint64_t bytes, uint32_t site, const char* name);

// check_overlap.cpp
void check_overlap(const Instr& instr);

// check_defined.cpp
uint32_t new_origin(Origin::Kind kind, uint32_t site, const char* name, uint32_t made_by);
uint32_t used_origin(uint32_t origin, uint32_t site, const char* name);
const char* rule_of(Origin::Kind kind);
std::string origin_text(const Origin& origin);
void flow_defined(Core& core, const Instr& instr);

// The shadow an access falls into, and where in it `base` lies.
struct Place {
    Shadow* shadow = nullptr;
    int64_t offset = 0;
    GmShadow* gm = nullptr;
};
Place place_of(Core& core, Space space, const uint8_t* at);

// Calls fn(offset from base, bytes) for every stretch of contiguous bytes of an access.
template <typename Fn> void for_each_row(const Access& a, Fn fn) {
    const bool joined = a.rows > 1 && a.row_step == int64_t(a.row_bytes);
    const uint64_t row = joined ? uint64_t(a.row_bytes) * a.rows : a.row_bytes;
    const uint32_t rows = joined ? 1 : a.rows;
    if (rows == 1 && a.repeats > 1 && a.repeat_step == int64_t(row)) {
        fn(int64_t{0}, row * a.repeats);
        return;
    }
    for (uint32_t p = 0; p < a.repeats; ++p)
        for (uint32_t r = 0; r < rows; ++r) fn(p * a.repeat_step + r * a.row_step, row);
}

// First byte and the byte behind the last, relative to base.
struct Span {
    int64_t low, high;
};
inline Span span_of(const Access& a) {
    const int64_t rows = int64_t(a.rows - 1) * a.row_step, repeats = int64_t(a.repeats - 1) * a.repeat_step;
    const int64_t low = (rows < 0 ? rows : 0) + (repeats < 0 ? repeats : 0);
    const int64_t high = (rows > 0 ? rows : 0) + (repeats > 0 ? repeats : 0) + a.row_bytes;
    return {low, high};
}

}  // namespace npuforge
