// SPDX-License-Identifier: Apache-2.0
#include "check.h"

namespace npuforge {

struct CheckState {};
void check_launch_begin(Launch&) {}
void check_core_begin(Core&) {}
void check_core_end(Core&) {}
void check_launch_end(Launch&) {}
void check_instruction(Core&, const Instr&) {}
void check_scalar(Core&, const void*, uint32_t, Space, bool, uint32_t) {}
void check_set_flag(Core&, Pipe, Pipe, int, uint32_t, bool) {}
void check_wait_flag(Core&, Pipe, Pipe, int, uint32_t, bool) {}
void check_barrier(Core&, Pipe, uint32_t) {}
void check_cross_arrive(Core&, uint64_t, Pipe, uint32_t) {}
void check_cross_depart(Core&, uint64_t, Pipe, uint32_t) {}
void check_sync_all(Launch&) {}
void check_buffer(Core&, const uint8_t*, uint32_t, uint8_t) {}
void check_slot_alloc(Core&, QueueState&, Slot&, uint32_t) {}
void check_slot_free(Core&, QueueState&, Slot&, uint32_t) {}
void check_data_cache(Core&, const void*, bool, uint32_t) {}

}  // namespace npuforge
