// SPDX-License-Identifier: Apache-2.0
// Integer helpers of the common operator library; a zero divisor answers the dividend or zero.
#pragma once

#include <cstdint>

#include "npuforge_host/contexts.h"

namespace Ops::Base {

template <typename T>
T CeilDiv(T value, T divisor) {
    return divisor == 0 ? value : (value + divisor - 1) / divisor;
}
template <typename T>
T FloorDiv(T value, T divisor) {
    return divisor == 0 ? value : value / divisor;
}
template <typename T>
T CeilAlign(T value, T alignment) {
    return alignment == 0 ? 0 : CeilDiv(value, alignment) * alignment;
}
template <typename T>
T FloorAlign(T value, T alignment) {
    return alignment == 0 ? 0 : value / alignment * alignment;
}

inline uint32_t GetUbBlockSize(const gert::TilingContext*) { return 32; }
inline uint32_t GetVRegSize(const gert::TilingContext*) { return 256; }
inline uint32_t GetCacheLineSize(const gert::TilingContext*) { return 512; }

}  // namespace Ops::Base
