// SPDX-License-Identifier: Apache-2.0
// From a launch's recorded streams to a timing summary.
#pragma once
#include <string>

#include "core.h"

namespace npuforge {

// Replays all cores on the chip's timeline; returns the summary as a JSON object and writes the
// trace when a path is given.
std::string simulate_launch(Launch& launch, const std::string& name, const std::string& constants,
                            const std::string& trace);

}  // namespace npuforge
