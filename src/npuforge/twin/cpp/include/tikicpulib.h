// SPDX-License-Identifier: Apache-2.0
// What programs written for the vendor's CPU debugging use: memory both sides see, and a launch.
#pragma once
#include "npu/direct.h"

namespace AscendC {

inline void* GmAlloc(size_t bytes) { return npuforge::direct::shared_memory(bytes); }
inline void GmFree(void* pointer) { npuforge::direct::release(pointer); }

}  // namespace AscendC

#define ICPU_SET_TILING_KEY(key) (npuforge::direct::set_tiling_key(key))
#define ICPU_RUN_KF(kernel, blocks, ...)                                                      \
    npuforge::direct::call([&](auto... npuforge_a) { kernel(npuforge_a...); }, #kernel,       \
                           npuforge::direct::config(blocks)__VA_OPT__(, ) __VA_ARGS__)
