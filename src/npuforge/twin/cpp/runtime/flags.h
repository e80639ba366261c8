// SPDX-License-Identifier: Apache-2.0
// Flags with an explicit call site: queues set them on behalf of the user's EnQue and DeQue.
#pragma once
#include "core.h"

namespace npuforge {

void set_flag_at(Pipe from, Pipe to, int event, uint32_t site, bool from_queue);
void wait_flag_at(Pipe from, Pipe to, int event, uint32_t site, bool from_queue);

// Event ids of the framework itself.
int take_event(Pipe from, Pipe to);
void return_event(Pipe from, Pipe to, int event);

}  // namespace npuforge
