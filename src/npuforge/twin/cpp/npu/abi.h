// SPDX-License-Identifier: Apache-2.0
// The boundary between the headers a kernel includes and the runtime library: plain descriptors and
// functions, no templates, so that a kernel compiles quickly and the work is compiled once.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../runtime/timeline_record.h"
#include "types.h"

namespace npuforge {

enum class Space : uint8_t { GM, UB, L1, L0A, L0B, L0C, BT, FB };

// Bits of the mode word; `run` is zero, so the fast path of a scalar access is one test.
inline constexpr uint32_t kCheck = 1;   // rules and races
inline constexpr uint32_t kTime = 2;    // record instructions for the timeline
inline constexpr uint32_t kNoData = 4;  // tensor memory must not be touched
extern uint32_t g_mode;

// One operand of a vector instruction.
struct Tile {
    void* addr;
    uint32_t room;              // bytes from addr to the end of the tensor
    DType type;
    uint8_t position;           // AscendC::TPosition
    uint16_t block_stride = 1;  // in 32 B blocks, between the blocks of one repeat
    uint16_t repeat_stride = 8; // in 32 B blocks, between repeats
};

// Which elements a vector instruction works on.
struct Extent {
    enum class Form : uint8_t {
        Count,     // the first `count` elements, contiguous
        Bits,      // `mask` selects lanes of each of `repeat` repeats
        Register,  // isSetMask == false: the mask register decides
    };
    Form form;
    uint64_t mask[2] = {0, 0};
    int64_t count = 0;  // Count: elements. Bits/Register in counter mode: see Extent::lanes()
    int32_t repeat = 1;

    static Extent elements(int64_t n) {
        Extent e{Form::Count};
        e.count = n;
        return e;
    }
    // Continuous mask: the first n lanes; in counter mode n is the total number of elements.
    static Extent lanes(uint64_t n, int32_t repeat) {
        Extent e{Form::Bits};
        e.count = static_cast<int64_t>(n);
        e.repeat = repeat;
        e.mask[0] = n >= 64 ? ~0ull : (1ull << n) - 1;
        e.mask[1] = n >= 128 ? ~0ull : (n > 64 ? (1ull << (n - 64)) - 1 : 0);
        return e;
    }
    static Extent bits(const uint64_t* m, int32_t repeat) {
        Extent e{Form::Bits};
        e.mask[0] = m[0];
        e.mask[1] = m[1];
        e.count = static_cast<int64_t>(m[0]);
        e.repeat = repeat;
        return e;
    }
    Extent in_register() const {
        Extent e = *this;
        e.form = Form::Register;
        return e;
    }
};

// A scalar operand in the type of the tensor it works with.
union Scalar {
    float f;
    int32_t i;
    int64_t l;
    uint64_t u;
};

template <typename T> Scalar to_scalar(T value) {
    Scalar s{};
    if constexpr (std::is_integral_v<T>) {
        s.l = static_cast<int64_t>(value);
    } else {
        s.f = static_cast<float>(value);
    }
    return s;
}

// Element-wise vector instructions: X(name). The order is the index into the runtime's table.
#define NPUFORGE_BINARY_OPS(X) \
    X(Add) X(Sub) X(Mul) X(Div) X(Max) X(Min) X(And) X(Or) X(AddRelu) X(SubRelu) \
    X(MulAddDst) X(FusedMulAdd) X(FusedMulAddRelu)
#define NPUFORGE_UNARY_OPS(X) \
    X(Exp) X(Ln) X(Abs) X(Reciprocal) X(Sqrt) X(Rsqrt) X(Not) X(Relu) X(Copy)
#define NPUFORGE_SCALAR_OPS(X) \
    X(Adds) X(Muls) X(Maxs) X(Mins) X(ShiftLeft) X(ShiftRight) X(LeakyRelu) X(Axpy) X(Duplicate)

enum class VecOp : uint16_t {
#define X(name) name,
    NPUFORGE_BINARY_OPS(X) NPUFORGE_UNARY_OPS(X) NPUFORGE_SCALAR_OPS(X)
#undef X
    Count
};

void vec_binary(VecOp op, const Extent& extent, const Tile& dst, const Tile& src0, const Tile& src1);
void vec_unary(VecOp op, const Extent& extent, const Tile& dst, const Tile& src);
void vec_scalar(VecOp op, const Extent& extent, const Tile& dst, const Tile& src, Scalar scalar);
void vec_cast(const Extent& extent, const Tile& dst, const Tile& src, int round_mode);

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
void scalar_access(const void* addr, uint32_t bytes, Space space, bool write);
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
void pipe_destroyed(void* pipe);
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
