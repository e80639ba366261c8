// SPDX-License-Identifier: Apache-2.0
// The checker's hooks. They are called in check mode only.
#pragma once
#include "instr.h"

namespace npuforge {

void check_launch_begin(Launch& launch);
void check_core_begin(Core& core);
void check_core_end(Core& core);
void check_launch_end(Launch& launch);

// False when the instruction leaves the memory it may touch and must not be executed.
bool check_instruction(Core& core, const Instr& instr);
// `tensor` is where the tensor starts whose element is accessed; `stored` is what is to be written.
bool check_scalar(Core& core, const void* addr, const void* tensor, uint32_t bytes, Space space, const void* stored,
                  uint32_t site);

// A flag is a channel between two pipes of a core.
void check_set_flag(Core& core, Pipe from, Pipe to, int event, uint32_t site, bool from_queue);
void check_wait_flag(Core& core, Pipe from, Pipe to, int event, uint32_t site, bool from_queue);
void check_barrier(Core& core, Pipe pipe, uint32_t site);
// Ids the kernel got from AllocEventID (`reserved`) or FetchEventID.
void check_event_taken(Core& core, Pipe from, Pipe to, int event, bool reserved, uint32_t site);
void check_event_released(Core& core, Pipe from, Pipe to, int event, uint32_t site);
void check_flags_at_end(Core& core);

// Cores meeting: `arrive` publishes what the core has done, `depart` takes over what was published.
void check_cross_arrive(Core& core, uint64_t channel, Pipe pipe, uint32_t site);
void check_cross_depart(Core& core, uint64_t channel, Pipe pipe, uint32_t site);
void check_sync_all(Launch& launch);

// Local memory changes hands: the buffer's bytes are a new allocation with undefined content.
void check_buffer(Core& core, const uint8_t* base, uint32_t bytes, uint8_t position, bool queue_slot);
void check_buffers_gone(Core& core);
void check_slot_alloc(Core& core, QueueState& queue, Slot& slot, uint32_t site);
void check_slot_free(Core& core, QueueState& queue, Slot& slot, uint32_t site);
void check_slot_moved(Core& core, Slot& slot, bool queued);
void check_queues_at_end(Core& core);
// The program copies bytes of its device memory to the host: they were meant to be written.
void check_copied_out(const uint8_t* from, uint64_t bytes);
void check_data_cache(Core& core, const void* addr, bool whole, uint32_t site);

}  // namespace npuforge
