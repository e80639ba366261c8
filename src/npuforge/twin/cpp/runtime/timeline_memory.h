// SPDX-License-Identifier: Apache-2.0
// The memory all cores share: what is in the L2, and how bandwidth is divided.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "timeline.h"

namespace npuforge {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// What one transfer asks of the shared memory, in bytes.
struct Traffic {
  uint64_t link = 0;       // over the core's own port, in whole requests
  uint64_t l2 = 0;         // served by the L2 (read hits, all writes)
  uint64_t hbm_read = 0;   // fetched
  uint64_t hbm_write = 0;  // written back because this transfer pushed it out, or bypassing writes
  uint64_t hit = 0;        // payload bytes found in the L2
  bool missed = false;
};

// Write-back L2 with LRU replacement over granules of 16 lines. Which lines of a granule are present
// is exact; replacement is by granule, so a lookup costs one hash probe per granule touched.
class L2Model {
 public:
  L2Model(uint64_t capacity_bytes, uint32_t line_bytes, double bypass_row_extra);

  Traffic read(const Record& record);
  Traffic write(const Record& record);
  // One access of the scalar unit; returns true on a hit.
  bool touch(uint64_t address, bool store);

  // Distinct lines read before anything here wrote them, and distinct lines written.
  uint64_t footprint_read_bytes() const { return footprint_read_ * line_; }
  uint64_t footprint_write_bytes() const { return footprint_write_ * line_; }
  void forget_footprint();

 private:
  struct Granule {
    uint64_t key = 0;
    uint16_t present = 0, dirty = 0;  // one bit per line
    uint16_t read = 0, written = 0;   // for the footprint
    uint32_t newer = 0, older = 0;    // LRU list; 0 is the sentinel
  };
  template <typename Visit>
  void for_each_span(uint64_t address, uint64_t bytes, Visit visit);
  template <typename Row>
  static void for_each_row(const Record& record, Row row);
  Granule& find(uint64_t key);
  void grow();
  void make_newest(uint32_t index);
  void unlink(uint32_t index);
  uint64_t make_room();  // returns dirty bytes pushed out
  Traffic account_row(uint64_t address, uint64_t bytes) const;

  uint64_t line_;
  double bypass_row_extra_;
  uint64_t capacity_lines_;
  uint64_t present_lines_ = 0;
  uint64_t footprint_read_ = 0, footprint_write_ = 0;
  std::vector<Granule> granules_;  // [0] is the LRU sentinel
  std::vector<uint32_t> table_;    // open addressing, indices into granules_
};

// Processor sharing: every active flow gets the same rate, at most `flow_cap`. Virtual time is bytes
// served to each flow, so finding the next completion is a heap lookup.
class SharedServer {
 public:
  SharedServer(double capacity, double flow_cap, double mixed_loss)
      : capacity_(capacity), flow_cap_(flow_cap), mixed_loss_(mixed_loss) {}

  void join(double now, uint32_t flow, double read_bytes, double write_bytes);
  double next_completion() const;
  uint32_t complete(double now);  // the flow that finishes at `now` == next_completion()
  double load() const;            // 0 idle .. 1 saturated

 private:
  struct Flow {
    double finish;
    uint32_t id;
    double read, write;
    bool operator>(const Flow& other) const { return finish > other.finish; }
  };
  double rate() const;
  void advance(double now);

  double capacity_, flow_cap_, mixed_loss_;
  double served_ = 0, last_ = 0;
  double reading_ = 0, writing_ = 0;
  std::priority_queue<Flow, std::vector<Flow>, std::greater<>> flows_;
};

}  // namespace npuforge
