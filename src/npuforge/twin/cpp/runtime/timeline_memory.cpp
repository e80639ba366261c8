// SPDX-License-Identifier: Apache-2.0
#include "timeline_memory.h"

#include <algorithm>
#include <bit>

namespace npuforge {
namespace {

constexpr uint32_t kLinesPerGranule = 16;
constexpr uint64_t kRequest = 128;  // what one L2 request carries, from published hit counters
constexpr uint32_t kEmpty = 0xffffffff;

uint64_t hash(uint64_t key) { return key * 0x9E3779B97F4A7C15ull >> 20; }

uint64_t lines(int mask) { return static_cast<uint64_t>(std::popcount(static_cast<uint16_t>(mask))); }

uint64_t units_touched(uint64_t address, uint64_t bytes, uint64_t unit) {
  return (address + bytes - 1) / unit - address / unit + 1;
}

}  // namespace

L2Model::L2Model(uint64_t capacity_bytes, uint32_t line_bytes, double bypass_row_extra)
    : line_(line_bytes),
      bypass_row_extra_(bypass_row_extra),
      capacity_lines_(std::max<uint64_t>(capacity_bytes / line_bytes, kLinesPerGranule)),
      granules_(1),
      table_(1024, kEmpty) {}

void L2Model::grow() {
  table_.assign(table_.size() * 2, kEmpty);
  const uint64_t mask = table_.size() - 1;
  for (uint32_t i = 1; i < granules_.size(); ++i) {
    uint64_t slot = hash(granules_[i].key) & mask;
    while (table_[slot] != kEmpty) slot = (slot + 1) & mask;
    table_[slot] = i;
  }
}

L2Model::Granule& L2Model::find(uint64_t key) {
  if (granules_.size() * 2 > table_.size()) grow();
  const uint64_t mask = table_.size() - 1;
  uint64_t slot = hash(key) & mask;
  for (; table_[slot] != kEmpty; slot = (slot + 1) & mask)
    if (granules_[table_[slot]].key == key) return granules_[table_[slot]];
  table_[slot] = static_cast<uint32_t>(granules_.size());
  granules_.emplace_back().key = key;
  return granules_.back();
}

void L2Model::unlink(uint32_t index) {
  Granule& g = granules_[index];
  granules_[g.newer].older = g.older;
  granules_[g.older].newer = g.newer;
}

void L2Model::make_newest(uint32_t index) {
  // The sentinel's `older` is the newest granule, its `newer` the oldest.
  Granule& g = granules_[index];
  g.newer = 0;
  g.older = granules_[0].older;
  granules_[g.older].newer = index;
  granules_[0].older = index;
}

uint64_t L2Model::make_room() {
  uint64_t pushed_out = 0;
  while (present_lines_ > capacity_lines_) {
    const uint32_t oldest = granules_[0].newer;
    Granule& g = granules_[oldest];
    pushed_out += lines(g.dirty) * line_;
    present_lines_ -= lines(g.present);
    g.present = g.dirty = 0;
    unlink(oldest);
  }
  return pushed_out;
}

// Calls visit(granule, mask of its lines in the range) for each granule, newest-first afterwards.
template <typename Visit>
void L2Model::for_each_span(uint64_t address, uint64_t bytes, Visit visit) {
  if (bytes == 0) return;
  uint64_t line = address / line_;
  const uint64_t end = (address + bytes - 1) / line_ + 1;
  while (line < end) {
    const uint64_t first = line % kLinesPerGranule;
    const uint64_t count = std::min<uint64_t>(kLinesPerGranule - first, end - line);
    const auto mask = static_cast<uint16_t>(((1u << count) - 1) << first);
    Granule& g = find(line / kLinesPerGranule);
    const auto index = static_cast<uint32_t>(&g - granules_.data());
    const bool was_linked = g.present != 0;
    const int before = std::popcount(g.present);
    visit(g, mask);
    present_lines_ += static_cast<uint64_t>(std::popcount(g.present) - before);
    if (g.present != 0) {
      if (was_linked) unlink(index);
      make_newest(index);
    }
    line += count;
  }
}

template <typename Row>
void L2Model::for_each_row(const Record& record, Row row) {
  const bool contiguous = record.row_stride == 0 || record.row_stride == record.row_bytes;
  const uint64_t rows = contiguous ? 1 : record.rows;
  const uint64_t bytes = contiguous ? uint64_t{record.row_bytes} * record.rows : record.row_bytes;
  for (uint64_t r = 0; r < rows; ++r) row(record.gm_address + r * record.row_stride, bytes);
}

// Rows of a line or more move in lines, shorter ones in requests.
Traffic L2Model::account_row(uint64_t address, uint64_t bytes) const {
  const uint64_t unit = bytes >= line_ ? line_ : kRequest;
  return {.link = units_touched(address, bytes, unit) * unit};
}

Traffic L2Model::read(const Record& record) {
  Traffic total;
  const bool bypass = record.flags & kRecordBypassL2;
  for_each_row(record, [&](uint64_t address, uint64_t bytes) {
    if (bytes == 0) return;
    const uint64_t link = account_row(address, bytes).link;
    uint64_t missing = 0, present = 0;
    for_each_span(address, bytes, [&](Granule& g, uint16_t mask) {
      footprint_read_ += lines(mask & ~g.read & ~g.written);
      g.read |= mask;
      missing += lines(mask & ~g.present);
      present += lines(mask & g.present);
      if (!bypass) g.present |= mask;
    });
    total.link += link;
    if (missing == 0) {
      total.l2 += link;
      total.hit += bytes;
      return;
    }
    total.missed = true;
    if (bypass) {
      // Nothing is kept, so each short row pays for its own fetch.
      total.hbm_read += bytes < line_ ? link + static_cast<uint64_t>(bypass_row_extra_) : link;
      return;
    }
    // A misaligned row shares its edge lines with its neighbours; measured time follows the lines
    // touched (2 KB rows at odd addresses take 5/4 of the time), present or not.
    const bool edges_only = present <= 2 && address % line_ != 0 && bytes >= line_;
    total.hbm_read += (edges_only ? missing + present : missing) * line_;
    if (!edges_only) {
      total.l2 += present * line_;
      total.hit += std::min(bytes, present * line_);
    }
  });
  total.hbm_write += make_room();
  return total;
}

Traffic L2Model::write(const Record& record) {
  Traffic total;
  const bool bypass = record.flags & kRecordBypassL2;
  for_each_row(record, [&](uint64_t address, uint64_t bytes) {
    if (bytes == 0) return;
    const uint64_t link = account_row(address, bytes).link;
    for_each_span(address, bytes, [&](Granule& g, uint16_t mask) {
      footprint_write_ += lines(mask & ~g.written);
      g.written |= mask;
      if (!bypass) {
        g.present |= mask;
        g.dirty |= mask;
      }
    });
    total.link += link;
    if (bypass)
      total.hbm_write += link;
    else
      total.l2 += link;
  });
  // An atomic update reads the old value in the L2 before it writes.
  if (record.flags & kRecordAtomic) total.l2 *= 2;
  total.hbm_write += make_room();
  return total;
}

bool L2Model::touch(uint64_t address, bool store) {
  bool hit = false;
  for_each_span(address, 1, [&](Granule& g, uint16_t mask) {
    hit = (g.present & mask) != 0;
    g.present |= mask;
    if (store) g.dirty |= mask;
  });
  make_room();
  return hit;
}

void L2Model::forget_footprint() {
  footprint_read_ = footprint_write_ = 0;
  for (Granule& g : granules_) g.read = g.written = 0;
}

double SharedServer::rate() const {
  const double moving = reading_ + writing_;
  const double write_share = moving > 0 ? writing_ / moving : 0;
  const double efficiency = 1 - mixed_loss_ * write_share * (1 - write_share);
  return std::min(flow_cap_, capacity_ * efficiency / static_cast<double>(flows_.size()));
}

double SharedServer::load() const {
  return std::min(1.0, static_cast<double>(flows_.size()) * flow_cap_ / capacity_);
}

void SharedServer::advance(double now) {
  if (!flows_.empty() && now > last_) served_ += rate() * (now - last_);
  last_ = now;
}

void SharedServer::join(double now, uint32_t flow, double read_bytes, double write_bytes) {
  advance(now);
  reading_ += read_bytes;
  writing_ += write_bytes;
  flows_.push({served_ + read_bytes + write_bytes, flow, read_bytes, write_bytes});
}

double SharedServer::next_completion() const {
  if (flows_.empty()) return kNever;
  return last_ + std::max(0.0, flows_.top().finish - served_) / rate();
}

uint32_t SharedServer::complete(double now) {
  advance(now);
  const Flow flow = flows_.top();
  flows_.pop();
  served_ = flow.finish;
  reading_ = flows_.empty() ? 0 : std::max(0.0, reading_ - flow.read);
  writing_ = flows_.empty() ? 0 : std::max(0.0, writing_ - flow.write);
  return flow.id;
}

}  // namespace npuforge
