// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace npuforge {

// After the last core has ended: flags and turns nobody waited for.
void finish_cross_core();

}  // namespace npuforge
