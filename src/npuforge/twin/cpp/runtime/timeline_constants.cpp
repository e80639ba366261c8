// SPDX-License-Identifier: Apache-2.0
#include "timeline.h"

namespace npuforge {

Constants Constants::from(const ConstantsFile& file) {
  Constants c;
  c.mhz = file.number("clock.mhz");
  const double cycles_per_ns = c.mhz / 1e3;
  const auto cycles = [&](const char* key) { return file.number(key); };
  const auto from_ns = [&](const char* key) { return file.number(key) * cycles_per_ns; };
  const auto from_us = [&](const char* key) { return file.number(key) * c.mhz; };
  // GB/s over cycles per ns is bytes per cycle.
  const auto from_gbps = [&](const char* key) { return file.number(key) / cycles_per_ns; };
  const auto count = [&](const char* key) { return static_cast<uint32_t>(file.number(key)); };

  c.aic_cores = count("cores.aic");
  c.aiv_cores = count("cores.aiv");
  c.queue_depth = count("pipe.queue_depth");
  c.flag = cycles("pipe.flag_cycles");
  c.barrier = cycles("pipe.barrier_cycles");
  c.barrier_all = cycles("pipe.barrier_all_cycles");
  c.cold_site = from_ns("scalar.cold_site_ns");
  c.dcache_hit = cycles("scalar.dcache_hit_cycles");
  c.dcache_line_bytes = count("scalar.dcache_line");
  c.dcache_lines = count("scalar.dcache_bytes") / c.dcache_line_bytes;

  c.read_l2 = from_ns("mte.read_l2_ns");
  c.read_hbm = from_ns("mte.read_hbm_ns");
  c.read_hbm_loaded = from_ns("mte.read_hbm_loaded_ns");
  c.write = from_ns("mte.write_ns");
  c.issue = cycles("mte.issue_cycles");
  c.row = cycles("mte.row_cycles");
  c.in_flight = count("mte.in_flight");
  c.in_flight_bytes = count("mte.in_flight_bytes");
  c.aiv_read = file.number("mte.aiv_read_bytes_per_cycle");
  c.aiv_write = file.number("mte.aiv_write_bytes_per_cycle");
  c.aic_read = file.number("mte.aic_read_bytes_per_cycle");
  c.aic_write = file.number("mte.aic_write_bytes_per_cycle");
  c.same_line = from_gbps("mte.same_line_gbps");
  c.bypass_row_extra = file.number("mte.bypass_row_extra_bytes");
  c.unaligned_short = file.number("mte.unaligned_row_short_bytes_per_cycle");
  c.unaligned_long = cycles("mte.unaligned_row_long_cycles");
  c.sector = count("mte.sector_bytes");

  c.l2_bytes = static_cast<uint64_t>(file.number("l2.bytes"));
  c.l2_bandwidth = from_gbps("l2.gbps");
  c.hbm_read = from_gbps("hbm.read_gbps");
  c.hbm_write = from_gbps("hbm.write_gbps");
  c.hbm_mixed_loss = file.number("hbm.mixed_loss");

  c.sync_all = from_us("sync.all_us");
  c.sync_flag = from_us("sync.flag_us");
  c.launch_base = from_us("launch.base_us");
  c.launch_per_block = from_us("launch.per_block_us");
  c.launch_beyond = from_us("launch.beyond_block_us");
  c.launch_knee = count("launch.knee_blocks");
  c.prologue = from_us("launch.prologue_us");
  c.next_block = from_us("launch.next_block_us");
  return c;
}

}  // namespace npuforge
