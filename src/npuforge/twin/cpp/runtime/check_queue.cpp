// SPDX-License-Identifier: Apache-2.0
// Queues: what their buffers hold, how many are in use, what is left at the end.
#include "check_state.h"
#include "report.h"

namespace npuforge {

namespace {

enum State : uint8_t { Free, Allocated, Queued, Taken };

constexpr int kTensorsPerPosition = 8;

Region* region_of(Core& core, const uint8_t* base) {
    CheckState& state = state_of(core);
    const auto offset = static_cast<uint64_t>(base - core.spaces[static_cast<int>(Space::UB)]);
    const uint32_t number = state.local[static_cast<int>(Space::UB)].block(offset).region;
    Region& region = state.regions[number];
    return number != 0 && region.kind == Region::Kind::Slot ? &region : nullptr;
}

uint8_t local_position(const QueueState& queue) {
    return queue.source_position == 0 ? queue.target_position : queue.source_position;
}

}  // namespace

void check_slot_alloc(Core& core, QueueState& queue, Slot& slot, uint32_t site) {
    CheckState& state = state_of(core);
    if (Region* region = region_of(core, slot.base)) region->live = true;
    const uint32_t origin = new_origin(Origin::Kind::StaleSlot, 0, "", site);
    const int64_t offset = slot.base - core.spaces[static_cast<int>(Space::UB)];
    state.local[static_cast<int>(Space::UB)].visit(offset, queue.bytes, [&](ShadowBlock& block, uint32_t mask, uint64_t) {
        block.undefined |= mask;
        block.origin = origin;
    });
    state.slots[slot.base] = {Allocated, local_position(queue), site};
    int used = 0;
    for (const auto& [base, s] : state.slots) used += s.state != Free && s.position == local_position(queue);
    if (used == kTensorsPerPosition + 1)
        report_at(site, "QUE-03", "AllocTensor: %d tensors of queues of one position are allocated at once, %d is the most", used,
                  kTensorsPerPosition);
}

void check_slot_free(Core& core, QueueState&, Slot& slot, uint32_t site) {
    if (Region* region = region_of(core, slot.base)) {
        region->live = false;
        region->freed_at = site;
    }
    state_of(core).slots[slot.base].state = Free;
}

void check_slot_moved(Core& core, Slot& slot, bool queued) {
    state_of(core).slots[slot.base].state = queued ? Queued : Taken;
}

void check_queues_at_end(Core& core) {
    for (const auto& [base, slot] : state_of(core).slots) {
        if (slot.state == Free) continue;
        // The end of the kernel frees everything; only a kernel that goes on allocating suffers.
        const bool queued = slot.state == Queued;
        warn_at(slot.site, queued ? "QUE-17" : "QUE-16",
                queued ? "a tensor is left in its queue at the end of the kernel" : "a tensor is allocated here and never freed");
    }
}

}  // namespace npuforge
