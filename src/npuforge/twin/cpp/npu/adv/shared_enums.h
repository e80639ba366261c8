// SPDX-License-Identifier: Apache-2.0
// Enumerations of the library that both kernels and host helpers name.
#pragma once
#include <cstdint>

namespace AscendC {

// A is a kept axis, R a reduced one; only the two-axis patterns work on this architecture.
enum class ReducePattern : uint32_t {
    AR = 0, RA = 1, R, ARA, ARAR, ARARA, ARARAR, ARARARA, ARARARAR, ARARARARA, RAR, RARA, RARAR, RARARA, RARARAR, RARARARA
};
enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };

}  // namespace AscendC
