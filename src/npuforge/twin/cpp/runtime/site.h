// SPDX-License-Identifier: Apache-2.0
// Call sites: chains of return addresses, interned to small numbers.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace npuforge {

inline constexpr int kSiteDepth = 6;
using SiteFrames = std::array<uintptr_t, kSiteDepth>;

// The caller's chain. `frame` is __builtin_frame_address(0) of a runtime entry function.
uint32_t intern_site(void* frame);
// The chain of code that was interrupted at `instruction` with frame pointer `frame`.
uint32_t intern_fault_site(uintptr_t instruction, uintptr_t frame);
const SiteFrames& site_frames(uint32_t site);

#define NPUFORGE_SITE() ::npuforge::intern_site(__builtin_frame_address(0))

}  // namespace npuforge
