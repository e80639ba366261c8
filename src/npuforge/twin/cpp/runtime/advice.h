// SPDX-License-Identifier: Apache-2.0
// Rules that only cost time: the recorder notes what an instruction loses, and after the simulation
// the places that lost a share worth knowing are reported with the cycles lost per core.
#pragma once
#include <span>
#include <vector>

#include "timeline.h"

namespace npuforge {

// Cycles the instruction at `site` takes longer than it would without breaking `rule`.
void note_lost(uint32_t site, const char* rule, uint64_t cycles);
// A scalar access to tensor memory.
void note_scalar(uint32_t site, uint32_t cycles);

// Adds what the streams themselves show, reports, and forgets.
void advise(std::span<const std::vector<Record>> streams, const Constants& chip, const Timeline& timeline);

}  // namespace npuforge
