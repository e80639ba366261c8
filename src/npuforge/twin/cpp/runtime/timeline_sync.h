// SPDX-License-Identifier: Apache-2.0
// Flags and barriers between cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "timeline_record.h"

namespace npuforge {

// Counts sets: the k-th round is complete when `needed` cores have contributed their k-th set.
class CrossChannel {
 public:
  explicit CrossChannel(uint32_t needed) : needed_(needed) {}

  void set(uint32_t contributor, double time) {
    if (contributor >= rounds_of_.size()) rounds_of_.resize(contributor + 1, 0);
    const uint32_t round = rounds_of_[contributor]++;
    if (round >= rounds_.size()) rounds_.resize(round + 1);
    rounds_[round].count++;
    rounds_[round].time = std::max(rounds_[round].time, time);
  }
  bool complete(uint32_t round) const {
    return round < rounds_.size() && rounds_[round].count >= needed_;
  }
  double time(uint32_t round) const { return rounds_[round].time; }
  // Rounds a waiter has consumed; a token is consumed once, by whoever waits for it.
  uint32_t& rounds_taken(uint32_t waiter, CrossMode mode) {
    return taken_by_[mode == CrossMode::Token ? 0 : waiter];
  }

  std::vector<uint32_t> waiting;  // core slots to wake when something is set

 private:
  struct Round {
    uint32_t count = 0;
    double time = 0;
  };
  uint32_t needed_;
  std::vector<Round> rounds_;
  std::vector<uint32_t> rounds_of_;
  std::map<uint32_t, uint32_t> taken_by_;
};

// Names a channel: mode, scope (group number, or 0), from cube cores, flag id or token.
using ChannelKey = std::tuple<CrossMode, uint32_t, bool, uint64_t>;

}  // namespace npuforge
