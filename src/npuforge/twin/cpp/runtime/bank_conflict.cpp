// SPDX-License-Identifier: Apache-2.0
// Port conflicts of the unified buffer (architecture 2201).
// An address is {bank 17:16, row 15:9, group 8:5, byte 4:0}. In one cycle a group serves one read
// and one write, a bank one or the other. A block addressed twice by one operand is read once.
#include <algorithm>
#include <array>

#include "cost.h"

namespace npuforge {
namespace {

constexpr uint32_t kBlock = 32;
constexpr uint32_t kGroups = 16;
// A write that meets a read in its bank waits about three quarters of a cycle on average
// (measured: 135 instead of 86 cycles for 64 repeats).
constexpr double kReadWritePenalty = 0.77;
// Layouts repeat after 16 repeats for odd strides; longer instructions are sampled.
constexpr uint32_t kSample = 32;

uint32_t group_of(uint32_t address) { return address / kBlock % kGroups; }
uint32_t bank_of(uint32_t address) { return (address >> 16 & 3) * kGroups + group_of(address); }

uint32_t block_address(const UbStream& stream, uint32_t repeat, uint32_t block) {
  return stream.address + (repeat * stream.repeat_stride + block * stream.block_stride) * kBlock;
}

uint32_t distinct_blocks(const UbStream& stream) {
  return stream.block_stride == 0 ? std::min(stream.blocks, 1u) : stream.blocks;
}

// Cycles the groups need for one repeat of these streams.
uint32_t group_cycles(std::span<const UbStream> streams, uint32_t repeat) {
  std::array<uint32_t, kGroups> load{};
  uint32_t worst = 1;
  for (size_t s = 0; s < streams.size(); ++s) {
    const UbStream& stream = streams[s];
    if (stream.repeat_stride == 0 && repeat > 0) continue;  // kept from the first repeat
    const bool same_as_before = std::any_of(streams.begin(), streams.begin() + s, [&](auto& other) {
      return other.address == stream.address && other.block_stride == stream.block_stride &&
             other.repeat_stride == stream.repeat_stride;
    });
    if (same_as_before) continue;
    for (uint32_t b = 0; b < distinct_blocks(stream); ++b)
      worst = std::max(worst, ++load[group_of(block_address(stream, repeat, b))]);
  }
  return worst;
}

// True when the write meets a read in a bank. When all blocks of the two coincide bank by bank, the
// hardware holds the write back by one repeat and nothing collides.
bool write_meets_read(const UbStream& write, const UbStream& read, uint32_t repeat) {
  if (read.repeat_stride == 0 && repeat > 0) return false;
  const uint32_t reads = distinct_blocks(read);
  bool coincide = reads == write.blocks;
  uint64_t banks_read = 0;
  for (uint32_t b = 0; b < reads; ++b) {
    const uint32_t bank = bank_of(block_address(read, repeat, b));
    banks_read |= uint64_t{1} << bank;
    if (coincide) coincide = bank == bank_of(block_address(write, repeat, b));
  }
  if (coincide) return false;
  for (uint32_t b = 0; b < write.blocks; ++b)
    if (banks_read >> bank_of(block_address(write, repeat, b)) & 1) return true;
  return false;
}

double conflict_of(std::span<const UbStream> reads, std::span<const UbStream> writes, uint32_t sample) {
  double total = 0;
  for (uint32_t r = 0; r < sample; ++r) {
    double cycles = std::max(group_cycles(reads, r), group_cycles(writes, r));
    const bool meets = std::any_of(writes.begin(), writes.end(), [&](auto& write) {
      return std::any_of(reads.begin(), reads.end(),
                         [&](auto& read) { return write_meets_read(write, read, r); });
    });
    total += meets ? cycles + kReadWritePenalty : cycles;
  }
  return total / sample;
}

// A loop issues the same few layouts over and over; the last ones are remembered.
struct Layout {
  std::array<UbStream, 8> streams{};
  size_t reads = 0, writes = 0;
  uint32_t sample = 0;
  double conflict = 0;
};
constexpr size_t kRemembered = 256;
std::array<Layout, kRemembered> g_layouts;

uint32_t mix(uint32_t hash, uint32_t value) { return (hash ^ value) * 0x9E3779B1u; }

size_t place_of(const Layout& layout) {
  uint32_t hash = layout.sample;
  for (size_t s = 0; s < layout.reads + layout.writes; ++s) {
    const UbStream& stream = layout.streams[s];
    hash = mix(mix(mix(hash, stream.address), stream.block_stride), stream.repeat_stride ^ stream.blocks << 16);
  }
  return (hash ^ hash >> 15) % kRemembered;
}

bool same(const Layout& a, const Layout& b) {
  return a.sample == b.sample && a.reads == b.reads && a.writes == b.writes && a.streams == b.streams;
}

}  // namespace

double bank_conflict(std::span<const UbStream> reads, std::span<const UbStream> writes,
                     uint32_t repeats) {
  Layout layout{.reads = reads.size(), .writes = writes.size(), .sample = std::min(repeats, kSample)};
  if (layout.sample == 0) return 1.0;
  if (reads.size() + writes.size() > layout.streams.size()) return conflict_of(reads, writes, layout.sample);
  std::copy(writes.begin(), writes.end(), std::copy(reads.begin(), reads.end(), layout.streams.begin()));
  Layout& known = g_layouts[place_of(layout)];
  if (!same(known, layout)) {
    layout.conflict = conflict_of(reads, writes, layout.sample);
    known = layout;
  }
  return known.conflict;
}

}  // namespace npuforge
