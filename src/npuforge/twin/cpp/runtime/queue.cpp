// SPDX-License-Identifier: Apache-2.0
// Buffers and queues: memory of the unified buffer, and the flags the framework sets for its queues.
#include <vector>

#include "../npu/abi_more.h"
#include "check.h"
#include "flags.h"
#include "report.h"

namespace npuforge {

namespace {

// AscendC::TPosition values the runtime needs to tell apart.
enum Position : uint8_t { GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC };

// Slot::state
enum SlotState : uint8_t { Free, Allocated, Queued, Taken };

struct Flow {
    Pipe producer, consumer;
    bool crosses() const { return producer != consumer; }
};

Pipe filled_by(uint8_t position) {
    switch (position) {
        case A1: case B1: case C1: case VECIN: return Pipe::MTE2;
        case A2: case B2: case C2: return Pipe::MTE1;
        case CO1: return Pipe::M;
        default: return Pipe::V;
    }
}

Pipe drained_by(uint8_t position) {
    switch (position) {
        case A1: case B1: case C1: return Pipe::MTE1;
        case A2: case B2: case C2: return Pipe::M;
        case CO1: return Pipe::FIX;
        case VECOUT: return Pipe::MTE3;
        default: return Pipe::V;
    }
}

Flow flow_of(const QueueState& queue) {
    const uint8_t from = queue.source_position == GM ? queue.target_position : queue.source_position;
    const uint8_t to = queue.target_position == GM ? queue.source_position : queue.target_position;
    return {filled_by(from), drained_by(to)};
}

bool take_freed(const Slot& slot) {
    return std::erase_if(g_core->freed, [&](const FreedSlot& freed) {
               return freed.base == slot.base && freed.event == slot.free_event;
           }) != 0;
}

Slot* slot_at(QueueState& queue, const void* addr) {
    for (int i = 0; i < queue.count; ++i) {
        Slot& slot = queue.slots[i];
        if (addr >= slot.base && addr < slot.base + queue.bytes) return &slot;
    }
    for (int i = queue.count; i < kMaxSlots; ++i)
        if (queue.slots[i].state != Free && queue.slots[i].base == addr) return &queue.slots[i];
    return nullptr;
}

// A tensor of another queue takes a place behind the queue's own: the framework hands on whatever it
// is given.
bool is_guest(const QueueState& queue, const Slot& slot) { return &slot >= queue.slots + queue.count; }

Slot* admit(QueueState& queue, const void* addr) {
    for (int i = queue.count; i < kMaxSlots; ++i) {
        if (queue.slots[i].state != Free) continue;
        queue.slots[i] = Slot{const_cast<uint8_t*>(static_cast<const uint8_t*>(addr)), Allocated};
        return &queue.slots[i];
    }
    return nullptr;
}

}  // namespace

void pipe_created(void* pipe) {
    if (g_core->pipe != nullptr && g_core->pipe != pipe)
        report("QUE-01", "a second TPipe is created while the first one is alive");
    g_core->pipe = pipe;
    g_core->ub_used = 0;
    g_core->buffers = 0;
    if (g_mode & kCheck) check_buffers_gone(*g_core);
}

void pool_reset(const uint8_t* base, uint32_t bytes) {
    const uint32_t site = NPUFORGE_SITE();
    std::erase_if(g_core->freed, [&](const FreedSlot& slot) {
        if (slot.base < base || slot.base >= base + bytes) return false;
        wait_flag_at(slot.from, slot.to, slot.event, site, true);
        return_event(slot.from, slot.to, slot.event);
        return true;
    });
}

void pipe_reset(void* pipe) {
    pool_reset(g_core->spaces[static_cast<int>(Space::UB)], local_capacity(Space::UB));
    pipe_created(pipe);
}

void pipe_destroyed(void* pipe, bool waits_for_pipes) {
    if (g_core->pipe != pipe) return;
    g_core->pipe = nullptr;
    pool_reset(g_core->spaces[static_cast<int>(Space::UB)], local_capacity(Space::UB));
    if (waits_for_pipes && (g_mode & kCheck)) check_barrier(*g_core, Pipe::Count, NPUFORGE_SITE());
}

namespace {

constexpr uint32_t kSpill = 512u << 10;  // how far buffers may reach over the end of UB

Buffer allocate(uint32_t bytes, uint8_t position, const char* owner, bool queue_slot) {
    const uint32_t rounded = (bytes + 31) / 32 * 32;
    Core& core = *g_core;
    const uint32_t capacity = local_capacity(Space::UB);
    if (core.ub_used + uint64_t(rounded) > capacity) {
        // The device does not stop here either: only touching what lies outside goes wrong (the
        // checker's error), and the last bytes of an oversized buffer often stay untouched. L1
        // follows UB in our memory.
        const bool hopeless = core.ub_used + uint64_t(rounded) > capacity + kSpill;
        const std::string text = std::string(owner) + " of " + std::to_string(rounded) + " B does not fit: " +
                                 std::to_string(core.ub_used) + " of " + std::to_string(capacity) +
                                 " B of the unified buffer are taken";
        if (g_mode & kCheck) warn_at(NPUFORGE_SITE(), "CAP-01", text);
        if (hopeless) {
            report("CAP-01", "%s", text.c_str());
            stop_launch("the unified buffer is full");
        }
    }
    core.buffers += 1;
    if (core.buffers == 65) report("CAP-05", "more than 64 buffers are initialised in one kernel");
    Buffer buffer{core.spaces[static_cast<int>(Space::UB)] + core.ub_used, rounded};
    core.ub_used += rounded;
    if (g_mode & kCheck) check_buffer(core, buffer.base, rounded, position, queue_slot);
    return buffer;
}

}  // namespace

Buffer ub_allocate(uint32_t bytes, uint8_t position, const char* owner) { return allocate(bytes, position, owner, false); }

void queue_init(QueueState& queue, int slots, uint32_t bytes) {
    const uint32_t each = (bytes + 31) / 32 * 32;
    const uint8_t position = queue.source_position == GM ? queue.target_position : queue.source_position;
    if (slots < 1 || slots > kMaxSlots) {
        report("QUE-04", "InitBuffer with %d buffers", slots);
        slots = slots < 1 ? 1 : kMaxSlots;
    }
    if (queue.count != 0 && queue.slots[0].state != Free) report("QUE-21", "InitBuffer of a queue whose tensors are in use");
    queue.count = static_cast<uint8_t>(slots);
    queue.bytes = each;
    for (int i = 0; i < slots; ++i) queue.slots[i] = Slot{allocate(each, position, "a queue buffer", true).base};
    queue.queued = queue.head = 0;
}

void queue_init_at(QueueState& queue, int slots, uint32_t bytes, uint8_t* base) {
    queue.count = static_cast<uint8_t>(slots < kMaxSlots ? slots : kMaxSlots);
    queue.bytes = bytes;
    for (int i = 0; i < queue.count; ++i) queue.slots[i] = Slot{base + size_t(i) * bytes};
    queue.queued = queue.head = 0;
}

Slot* queue_alloc(QueueState& queue) {
    const uint32_t site = NPUFORGE_SITE();
    if (queue.count == 0) {
        report_at(site, "QUE-20", "AllocTensor from a queue that InitBuffer has given no memory");
        stop_launch("AllocTensor from a queue without memory");
    }
    for (int i = 0; i < queue.count; ++i) {
        Slot& slot = queue.slots[(queue.head + i) % queue.count];
        if (slot.state != Free) continue;
        queue.head = static_cast<uint8_t>((queue.head + i + 1) % queue.count);
        slot.state = Allocated;
        const Flow flow = flow_of(queue);
        // A pool that was reset since has waited already.
        if (slot.free_event >= 0 && flow.crosses() && take_freed(slot)) {
            wait_flag_at(flow.consumer, flow.producer, slot.free_event, site, true);
            return_event(flow.consumer, flow.producer, slot.free_event);
        }
        slot.free_event = -1;
        if (g_mode & kCheck) check_slot_alloc(*g_core, queue, slot, site);
        return &slot;
    }
    report_at(site, "QUE-04", "AllocTensor: all %d buffers of the queue are in use; the core would wait for ever", queue.count);
    stop_launch("AllocTensor on a queue whose buffers are all in use");
}

void queue_enqueue(QueueState& queue, const void* addr) {
    const uint32_t site = NPUFORGE_SITE();
    Slot* slot = slot_at(queue, addr);
    if (slot == nullptr) {
        report_at(site, "QUE-19", "EnQue of a tensor that was not allocated from this queue");
        slot = admit(queue, addr);
        if (slot == nullptr) return;
    }
    if (slot->state != Allocated && slot->state != Taken)
        report_at(site, "QUE-19", "EnQue of a tensor that is %s", slot->state == Queued ? "queued already" : "free");
    if (queue.depth > 0 && queue.queued >= queue.depth && (g_mode & kCheck))
        report_at(site, "QUE-06", "EnQue of tensor %d into a queue of depth %d", queue.queued + 1, queue.depth);
    if (queue.queued >= kMaxSlots) return;
    const Flow flow = flow_of(queue);
    if (flow.crosses()) {
        slot->ready_event = static_cast<int8_t>(take_event(flow.producer, flow.consumer));
        set_flag_at(flow.producer, flow.consumer, slot->ready_event, site, true);
    }
    slot->state = Queued;
    if (g_mode & kCheck) check_slot_moved(*g_core, *slot, true);
    queue.fifo[queue.queued++] = static_cast<uint8_t>(slot - queue.slots);
}

Slot* queue_dequeue(QueueState& queue) {
    const uint32_t site = NPUFORGE_SITE();
    if (queue.queued == 0) {
        report_at(site, "QUE-05", "DeQue on an empty queue");
        stop_launch("DeQue on an empty queue");
    }
    Slot& slot = queue.slots[queue.fifo[0]];
    for (int i = 1; i < queue.queued; ++i) queue.fifo[i - 1] = queue.fifo[i];
    queue.queued -= 1;
    if (slot.ready_event >= 0) {
        const Flow flow = flow_of(queue);
        wait_flag_at(flow.producer, flow.consumer, slot.ready_event, site, true);
        return_event(flow.producer, flow.consumer, slot.ready_event);
        slot.ready_event = -1;
    }
    slot.state = Taken;
    if (g_mode & kCheck) check_slot_moved(*g_core, slot, false);
    return &slot;
}

void queue_free(QueueState& queue, const void* addr) {
    const uint32_t site = NPUFORGE_SITE();
    Slot* slot = slot_at(queue, addr);
    if (slot == nullptr) {
        report_at(site, "QUE-18", "FreeTensor of a tensor that was not allocated from this queue");
        return;
    }
    if (slot->state == Free) {
        report_at(site, "QUE-18", "FreeTensor of a tensor that is free already");
        return;
    }
    if (slot->state == Queued) report_at(site, "QUE-04", "FreeTensor of a tensor that is still in the queue: its DeQue is missing");
    if (is_guest(queue, *slot)) {
        *slot = Slot{};
        return;
    }
    const Flow flow = flow_of(queue);
    if (flow.crosses()) {
        slot->free_event = static_cast<int8_t>(take_event(flow.consumer, flow.producer));
        set_flag_at(flow.consumer, flow.producer, slot->free_event, site, true);
        g_core->freed.push_back({slot->base, flow.consumer, flow.producer, slot->free_event});
    }
    slot->state = Free;
    if (g_mode & kCheck) check_slot_free(*g_core, queue, *slot, site);
}

void* current_pipe() { return g_core->pipe; }

Buffer ub_rest() {
    const uint32_t capacity = local_capacity(Space::UB);
    return {g_core->spaces[static_cast<int>(Space::UB)] + g_core->ub_used, capacity - g_core->ub_used};
}

}  // namespace npuforge
