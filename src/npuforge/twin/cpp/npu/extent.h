// SPDX-License-Identifier: Apache-2.0
// From the mask arguments of an API to the extent the runtime understands.
#pragma once
#include "tensor.h"

namespace AscendC::internal {

inline npuforge::Extent ExtentOf(uint64_t mask, int32_t repeat, bool setMask) {
    const npuforge::Extent extent = npuforge::Extent::lanes(mask, repeat);
    return setMask ? extent : extent.in_register();
}
inline npuforge::Extent ExtentOf(int32_t mask, int32_t repeat, bool setMask) {
    return ExtentOf(static_cast<uint64_t>(mask), repeat, setMask);
}
inline npuforge::Extent ExtentOf(const uint64_t* mask, int32_t repeat, bool setMask) {
    const npuforge::Extent extent = npuforge::Extent::bits(mask, repeat);
    return setMask ? extent : extent.in_register();
}

template <typename T, typename... Allowed> inline constexpr bool AnyOf = (std::is_same_v<T, Allowed> || ...);

}  // namespace AscendC::internal
