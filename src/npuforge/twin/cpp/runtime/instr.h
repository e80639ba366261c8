// SPDX-License-Identifier: Apache-2.0
// The gate every instruction passes: what it touches, for the checker, and what it costs, for the
// timeline. An API implementation describes itself here once and then computes its values.
#pragma once
#include <vector>

#include "core.h"

namespace npuforge {

// Bytes touched in one memory: `rows` rows of `row_bytes`, `row_step` apart, that pattern repeated
// `repeats` times `repeat_step` apart. Steps may be zero or negative.
struct Access {
    const uint8_t* base;
    uint32_t row_bytes;
    uint32_t rows = 1;
    int64_t row_step = 0;
    uint32_t repeats = 1;
    int64_t repeat_step = 0;
    Space space = Space::UB;
    bool write = false;
    uint8_t align = 32;          // required alignment of `base` in local memory; 1 for none
    const char* align_rule = "ALN-01";
    const char* bounds_rule = nullptr;  // rule broken by leaving the buffer; nullptr: by kind of access
    const char* role = "";       // "dst", "src0", ... for messages
    uint32_t room = 0;           // bytes from origin to the end of the tensor; 0 when unknown
    const uint8_t* origin = nullptr;  // start of the operand; nullptr: base is
    uint32_t repeat_bytes = 0;   // bytes one repeat takes, for operands of vector instructions
    uint8_t position = 0;        // AscendC::TPosition
    bool undefined = false;      // a write that leaves the bytes undefined (dummy padding)
    bool atomic = false;         // a write that accumulates
};

struct Instr {
    const char* name;
    Pipe pipe;
    uint32_t site;
    bool local_vector = true;    // operands must be vector positions (rule VEC-13)
    std::vector<Access> accesses;
};

// Resolved extent of a vector instruction.
struct Lanes {
    uint64_t mask[2];        // active lanes of a repeat
    uint32_t per_repeat;     // lanes of a full repeat: 256 B of the widest operand
    uint32_t repeats;
    uint32_t last_lanes;     // counter mode and counts: active lanes of the last repeat; else 0
    uint64_t total;          // active elements in all
    bool contiguous_lanes;   // every repeat but the last is full
};

// `widest` is the size of the widest operand in bytes.
Lanes resolve(const Extent& extent, uint32_t widest, const char* name);

// The accesses of one vector operand.
void add_tile(Instr& instr, const Tile& tile, const Lanes& lanes, bool write, const char* role);

// A reusable instruction object for the running core (no allocation per instruction).
Instr& begin(const char* name, Pipe pipe, uint32_t site);

// Ends the description: checks in check mode, records in time mode. Returns true when values are
// to be computed. `cycles` is the cost on the pipe.
bool commit(Instr& instr, uint32_t cycles, uint16_t op);
bool commit_vector(Instr& instr, const Lanes& lanes, uint32_t widest);
void record(const Record& record);
uint16_t op_id(const char* name);

}  // namespace npuforge
