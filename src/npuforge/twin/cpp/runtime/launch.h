// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "core.h"

namespace npuforge {

// Runs `body` once per core of the launch. Throws std::runtime_error when the launch cannot end.
void run_blocks(Launch& launch, const std::function<void()>& body);

}  // namespace npuforge
