// SPDX-License-Identifier: Apache-2.0
// The state of a launch and of each core in it. One launch runs at a time in a process, on one
// thread; each block is a fiber.
#pragma once
#include <ucontext.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../npu/abi.h"
#include "cost.h"
#include "site.h"

namespace npuforge {

struct CheckState;  // check.h: what the checker remembers of one core

struct AtomicMode {
    DType type = DType::F32;
    int operation = 0;  // 0 none, 1 add, 2 max, 3 min
};

// What SetDeqScale left. A table lies in UB: 16 words of scale, offset and sign.
struct Dequantization {
    enum class Kind : uint8_t { Unset, Half, Number, Table };
    Kind kind = Kind::Unset;
    float scale = 1.0f;
    int16_t offset = 0;
    bool is_signed = true;
    Tile table{};
};

// Registers that vector instructions read implicitly.
struct VectorState {
    bool counter = false;
    uint64_t mask_low = ~0ull, mask_high = ~0ull;
    uint64_t compare_mask[2] = {0, 0};
    bool mask_set = false;       // by the kernel, for instructions that leave the mask alone
    Dequantization deq;
    bool saturate = false;       // half and bf16 results: no infinities, no NaN
    uint64_t reduced_count = 0;  // GatherMask: elements kept
    float accumulated = 0;       // GetAccVal
    DType accumulated_type = DType::F32;
    uint64_t best_value = 0, best_index = 0;
    bool best_contiguous = true; // the reduction that set them ran over contiguous repeats
    uint16_t merged[4] = {};     // MrgSort: records taken from each list
    uint64_t addresses[8][8] = {}; // address registers of transposing moves
    uint64_t pad_value = 0;      // SetPadValue
    bool pad_set = false;
};

struct Fiber {
    ucontext_t context;
    uint8_t* stack = nullptr;
    size_t stack_bytes = 0;
    bool started = false, done = false;
    bool blocked = false;
    std::string waiting_for;  // for the deadlock report
    uint32_t waiting_site = 0;
};

// Reads of one place in GM, to notice a block that polls it.
struct Polling {
    const void* place = nullptr;
    uint32_t elsewhere = 0;  // reads of other places since the last one of this
    uint32_t times = 0;
    uint32_t turns = 0;  // given to the others because of it
};

// A buffer given back to its queue, and the flag that says when its last user is done.
struct FreedSlot {
    const uint8_t* base;
    Pipe from, to;
    int8_t event;
};

struct Core {
    int index = 0;          // GetBlockIdx
    int sub_block = 0;
    bool cube = false;
    Fiber fiber;
    Polling polling;
    std::unique_ptr<uint8_t[]> memory;  // UB and the other local memories, one after the other
    uint8_t* spaces[8] = {};
    uint32_t ub_used = 0;
    int buffers = 0;        // InitBuffer count, rule CAP-05
    void* pipe = nullptr;   // the live TPipe
    std::vector<FreedSlot> freed;
    VectorState vector;
    AtomicMode atomic;
    uint8_t events[7][7] = {};  // ids in use per pipe pair, one bit each
    std::shared_ptr<CheckState> check;
    std::vector<Record> records;
    uint32_t scalar_cycles = 0;
};

struct GmBuffer {
    std::string name;
    uint8_t* base = nullptr;
    uint64_t bytes = 0;       // of the tensor
    uint64_t capacity = 0;    // with the padding a device allocation has
    bool writable = true;     // inputs are not
    bool initialised = true;  // content is defined at kernel start
    bool role_known = true;   // a program's own device memory may be an output, a workspace or unused
};

struct Launch {
    std::vector<std::unique_ptr<Core>> cores;
    std::vector<GmBuffer> gm;
    int blocks = 1;
    uint64_t key = 0;
    bool auto_sync = true;
    uint8_t* workspace = nullptr;
    uint64_t seed = 1;        // of fake values
    bool value_read = false;  // a scalar read tensor data in a data-free run
};

extern Launch* g_launch;
extern Core* g_core;

CostTable& costs();

// Gives control to another fiber until `blocked` is cleared by whoever satisfies the wait.
void block_fiber(Core& core, std::string waiting_for);
void unblock_fiber(Core& core);
// A read of GM by this core. One that reads a place over and over may wait for another block to write
// it, so the others get their turn.
void note_gm_read(const void* place);
void reset_cross_core();  // before each launch

}  // namespace npuforge
