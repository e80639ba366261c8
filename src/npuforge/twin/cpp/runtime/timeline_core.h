// SPDX-License-Identifier: Apache-2.0
// What the simulator knows about one core while it works through its stream.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "timeline.h"
#include "timeline_memory.h"

namespace npuforge {

// Set times of one flag, oldest first. Hardware allows one outstanding set; a wrong kernel may
// issue more, and then they queue here as its counters would.
class FlagSlot {
 public:
  bool empty() const { return head_ == times_.size(); }
  void set(double time) { times_.push_back(time); }
  double take() {
    const double time = times_[head_++];
    if (empty()) {
      times_.clear();
      head_ = 0;
    }
    return time;
  }

 private:
  std::vector<double> times_;
  size_t head_ = 0;
};

inline constexpr size_t kEvents = 16;

inline size_t flag_index(const Record& r) {
  return (static_cast<size_t>(r.pipe) * kPipes + static_cast<size_t>(r.other)) * kEvents +
         r.event % kEvents;
}

// A transfer between its start and its last byte. Data phases of one pipe follow each other;
// latencies overlap with the data of earlier transfers.
struct Transfer {
  uint32_t record = 0;
  double start = 0;
  double ready = kNever;    // start plus latency, once the L2 was asked
  double link_end = 0;      // earliest end by the core's own port
  Traffic traffic;
  uint32_t parts = 0;       // shared servers still busy with it
  std::vector<uint32_t> on_done;  // records (SetFlag, CrossSet) that wait for it
};

struct Queued {
  uint32_t record = 0;
  double issued = 0;
};

struct PipeState {
  std::vector<Queued> queue;       // ring of queue_depth
  std::vector<double> slot_free;   // when each ring slot was last given up
  uint64_t pushed = 0, popped = 0;
  double free = 0;                 // when the next instruction may start
  double done = 0;                 // when everything so far was complete
  double busy_until = 0;           // for the union of overlapping transfers
  std::deque<Transfer> in_flight;
  uint64_t bytes_in_flight = 0;
  bool window_full = false;        // the next transfer waits for one to end
  size_t started = 0;              // transfers of in_flight whose start event has passed

  bool empty() const { return pushed == popped; }
  bool drained() const { return empty() && in_flight.empty(); }
};

struct CoreState {
  uint32_t stream = 0;
  bool active = false;
  bool cube = false;
  const std::vector<Record>* records = nullptr;
  size_t cursor = 0;
  bool charged = false;     // the record at the cursor has had its scalar cycles
  double scalar = 0;        // time of the scalar unit
  uint32_t sync_alls = 0;
  bool arrived = false;     // at the SyncAll under the cursor
  std::array<PipeState, kPipes> pipes;
  std::vector<FlagSlot> flags{kPipes * kPipes * kEvents};
  std::vector<uint64_t> seen_sites;  // bitmap
  std::vector<uint64_t> dcache;      // line tags, direct mapped
};

}  // namespace npuforge
