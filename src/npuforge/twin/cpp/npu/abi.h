// SPDX-License-Identifier: Apache-2.0
// The boundary between the headers a kernel includes and the runtime library: plain descriptors and
// functions, no templates, so that a kernel compiles quickly and the work is compiled once.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../runtime/timeline_record.h"
#include "abi_vector.h"
#include "types.h"

namespace npuforge {

enum class Space : uint8_t { GM, UB, L1, L0A, L0B, L0C, BT, FB };

// Bits of the mode word; `run` is zero, so the fast path of a scalar access is one test.
inline constexpr uint32_t kCheck = 1;   // rules and races
inline constexpr uint32_t kTime = 2;    // record instructions for the timeline
inline constexpr uint32_t kNoData = 4;  // tensor memory must not be touched
extern uint32_t g_mode;

// A move between GM and local memory, or between local memories: rows of bytes.
struct Dma {
    void* dst;
    const void* src;
    Space dst_space, src_space;
    uint32_t dst_room, src_room;    // bytes to the end of the tensor; 0: not known
    uint32_t rows, row_bytes;       // bytes of data per row
    int64_t src_step, dst_step;     // bytes from row start to row start
    uint32_t left_pad, right_pad;   // bytes written before and after the data of each row
    uint64_t pad_value;             // one element, little-endian
    uint32_t element_bytes;
    DType type;
    bool filled;                    // pad bytes carry pad_value (otherwise they are undefined)
    bool byte_granular;             // DataCopyPad
    uint8_t cache_mode;             // GlobalTensor::SetL2CacheHint
    const char* name;               // API name
};
void dma(const Dma& job);

// Scalar access to tensor memory through the runtime (modes other than run).
// `tensor` is where the tensor starts; `stored` the value to be written, nullptr for a read. False when
// the access must not be made.
bool scalar_access(const void* addr, const void* tensor, uint32_t bytes, Space space, const void* stored);
uint64_t fake_value(const void* addr);  // what a data-free run reads

// Synchronisation inside a core.
void set_flag(Pipe from, Pipe to, int event);
void wait_flag(Pipe from, Pipe to, int event);
void pipe_barrier(Pipe pipe);  // Pipe::Count is PIPE_ALL
int alloc_event(Pipe from, Pipe to);
int fetch_event(Pipe from, Pipe to);
void release_event(Pipe from, Pipe to, int event);

// Synchronisation between cores.
void sync_all(bool vectors_only);
void cross_set(int mode, Pipe pipe, int flag);
void cross_wait(int mode, Pipe pipe, int flag);
void token_set(const void* name);
void token_wait(const void* name);

// Vector state registers.
void set_mask_mode(bool counter);
bool counter_mode();
void set_vector_mask(uint64_t high, uint64_t low);
void set_atomic(DType type, int operation);  // operation: 0 none, 1 add, 2 max, 3 min

// Local memory. Buffers come from the pipe object or from the static-tensor allocator.
struct Buffer {
    uint8_t* base;
    uint32_t bytes;
};
Buffer ub_allocate(uint32_t bytes, uint8_t position, const char* owner);
void pipe_created(void* pipe);
void pipe_destroyed(void* pipe, bool waits_for_pipes);
void pipe_reset(void* pipe);
// Buffers at this place are given out anew: what queues freed there is waited for.
void pool_reset(const uint8_t* base, uint32_t bytes);
uint8_t* local_memory(Space space);
uint32_t local_capacity(Space space);

// Queues: the same flags the framework would set on hardware.
inline constexpr int kMaxSlots = 16;
struct Slot {
    uint8_t* base = nullptr;
    uint8_t state = 0;        // 0 free, 1 allocated, 2 queued, 3 taken
    int8_t ready_event = -1;  // set by EnQue, waited by DeQue
    int8_t free_event = -1;   // set by FreeTensor, waited by the next AllocTensor
};
struct QueueState {
    Slot slots[kMaxSlots];
    uint8_t count = 0, head = 0;
    uint8_t fifo[kMaxSlots] = {};
    uint8_t queued = 0;
    uint8_t depth = 1;
    uint8_t source_position = 0, target_position = 0;
    uint32_t bytes = 0;       // of one slot
    void* pipe = nullptr;
};
void queue_init(QueueState& queue, int slots, uint32_t bytes);
void queue_init_at(QueueState& queue, int slots, uint32_t bytes, uint8_t* base);
Slot* queue_alloc(QueueState& queue);
void queue_enqueue(QueueState& queue, const void* addr);
Slot* queue_dequeue(QueueState& queue);
void queue_free(QueueState& queue, const void* addr);

// Reports of header code. `rule` is an id of the catalogue.
void report(const char* rule, const char* format, ...) __attribute__((format(printf, 2, 3)));
void add_scalar_cycles(uint32_t cycles);

// Who is running.
int64_t block_index();
int64_t block_count();
int64_t sub_block_index();
bool is_aiv();
uint64_t tiling_key();
void copy_tiling(void* to, const void* from, size_t bytes);
uint8_t* system_workspace();
void device_print(const char* text, size_t length);

}  // namespace npuforge
