// SPDX-License-Identifier: Apache-2.0
// Shared pieces of the high-level headers.
#pragma once
#include "../tensor.h"
#include "../vec_binary.h"
#include "library.h"
#include "tilings.h"

namespace AscendC::internal {

// An operand that is not there.
inline npuforge::Tile NoTile() { return npuforge::Tile{nullptr, 0, npuforge::DType::F32, 0}; }

template <typename T> void RequireFloating() {
    static_assert(IsFloating<T>, "[ADV-01] this high-level API works on half and float on 2201");
}

}  // namespace AscendC::internal
