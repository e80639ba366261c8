// SPDX-License-Identifier: Apache-2.0
// How long would these instruction streams take? A discrete-event simulation of all cores of a
// launch together: in-order pipes with bounded queues, flags, barriers, cross-core synchronisation,
// and one HBM and one L2 that all transfers share.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cost.h"
#include "timeline_record.h"

namespace npuforge {

inline constexpr size_t kPipes = static_cast<size_t>(Pipe::Count);

// The simulator's constants in its own units: core cycles, bytes, bytes per core cycle.
struct Constants {
  static Constants from(const ConstantsFile& file);

  double mhz = 0;
  uint32_t aic_cores = 0, aiv_cores = 0;

  uint32_t queue_depth = 0;
  double flag = 0, barrier = 0, barrier_all = 0;
  double cold_site = 0, dcache_hit = 0;
  uint32_t dcache_lines = 0, dcache_line_bytes = 0;

  double read_l2 = 0, read_hbm = 0, read_hbm_loaded = 0, write = 0;  // latencies
  double issue = 0, row = 0;
  uint32_t in_flight = 0;
  uint64_t in_flight_bytes = 0;
  double aiv_read = 0, aiv_write = 0, aic_read = 0, aic_write = 0;
  double same_line = 0;
  double bypass_row_extra = 0, unaligned_short = 0, unaligned_long = 0;
  uint32_t sector = 0;

  uint64_t l2_bytes = 0;
  double l2_bandwidth = 0, hbm_read = 0, hbm_write = 0, hbm_mixed_loss = 0;

  double sync_all = 0, sync_flag = 0;
  double launch_base = 0, launch_per_block = 0, launch_beyond = 0, prologue = 0, next_block = 0;
  uint32_t launch_knee = 0;

  double microseconds(double cycles) const { return cycles / mhz; }
};

enum class LaunchType : uint8_t { Vector, Cube, Mix };

// Warm: the L2 holds what an identical launch just before would have left there.
enum class L2State : uint8_t { Cold, Warm };

// Streams of a Mix launch come in groups: one cube core, then its vector cores.
struct LaunchInfo {
  std::string kernel;
  uint32_t block_num = 1;
  LaunchType type = LaunchType::Vector;
  uint32_t vectors_per_cube = 2;
  L2State l2 = L2State::Cold;
  uint32_t trace_cores = 0;         // streams 0 .. n-1 are kept for the trace
  uint64_t trace_events = 200'000;  // and at most this many intervals and arrows each
};

struct PipeUse {
  double busy_us = 0;  // executing; transfers that overlap on one pipe count once
  double wait_us = 0;  // S, waiting for a full queue, a flag, a barrier; others, for a flag
  uint64_t instructions = 0;
};

struct CoreTimes {
  bool cube = false;
  double start_us = 0, end_us = 0;
  std::array<PipeUse, kPipes> pipes{};
  uint64_t read_bytes = 0, written_bytes = 0;
  double sync_us = 0;  // waiting for other cores
};

struct Interval {
  uint32_t stream = 0, record = 0;
  Pipe pipe = Pipe::S;
  double start_us = 0, end_us = 0;
};

struct FlagArrow {
  uint32_t stream = 0;
  Pipe from = Pipe::S, to = Pipe::S;
  uint8_t event = 0;
  double set_us = 0, wait_us = 0;
};

struct Timeline {
  std::string stall;  // empty, or why no core could go on
  double total_us = 0;
  double launch_us = 0;  // part of total_us before the first core starts and after the last ends
  double skew_us = 0;    // first core start to last core start (first wave)
  std::vector<CoreTimes> cores;  // one per stream
  uint64_t gm_read_bytes = 0, gm_write_bytes = 0;
  uint64_t l2_read_hit_bytes = 0, hbm_read_bytes = 0, hbm_write_bytes = 0;
  // Distinct bytes, in whole lines: the least any kernel with this input and output must move.
  uint64_t footprint_read_bytes = 0, footprint_write_bytes = 0;
  std::vector<Interval> intervals;
  std::vector<FlagArrow> arrows;
};

Timeline simulate(std::span<const std::vector<Record>> streams, const Constants& constants,
                  const LaunchInfo& launch);

}  // namespace npuforge
