// SPDX-License-Identifier: Apache-2.0
// A timeline as JSON: a summary for reports, and a trace for Perfetto and MindStudio Insight.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "timeline.h"

namespace npuforge {

void write_summary(std::ostream& out, const Timeline& timeline, const Constants& constants,
                   const LaunchInfo& launch);

// Chrome trace events: one process per core, one thread per pipe, arrows for flags.
// `sites` may name call sites (file:line) by id; missing ones appear by number.
void write_trace(std::ostream& out, const Timeline& timeline, const LaunchInfo& launch,
                 std::span<const std::vector<Record>> streams,
                 const std::vector<std::string>& op_names, const std::vector<std::string>& sites);

}  // namespace npuforge
