// SPDX-License-Identifier: Apache-2.0
// The boundary to the runtime, continued: reductions, gathers, sorts, transposes, moves with a format
// change, meeting points in GM.
#pragma once
#include "abi.h"

namespace npuforge {

// GroupBarrier: the round a core is in, and how many cores stand on the other side.
void group_arrive(const void* name, uint64_t round, uint32_t waiting);
void group_wait(const void* name, uint64_t round, uint32_t arriving);

enum class Reduction : uint8_t { Sum, Max, Min };

// What a reduction of each repeat leaves, in the order of AscendC::ReduceOrder.
enum class ReduceLayout : uint8_t { ValueIndex, IndexValue, OnlyValue, OnlyIndex };

// Each repeat to one result; `dst_stride` counts results.
void reduce_repeats(Reduction kind, ReduceLayout layout, const Extent& extent, const Tile& dst, const Tile& src,
                    int64_t dst_stride, const char* name);
// Each 32 B block to one result; `dst_stride` counts the results of a repeat.
void reduce_blocks(Reduction kind, const Extent& extent, const Tile& dst, const Tile& src, int64_t dst_stride,
                   const char* name);
// Each pair of neighbours to their sum; `dst_stride` counts 128 B.
void reduce_pairs(const Extent& extent, const Tile& dst, const Tile& src, int64_t dst_stride, const char* name);
// Everything to one result.
void reduce_all(Reduction kind, const Extent& extent, const Tile& dst, const Tile& src, const Tile& shared, bool index,
                const char* name);
// Adds up the repeats into the accumulator register only.
void accumulate_repeats(const Extent& extent, const Tile& src);
// Registers the last reduction set, as bits of its element type.
uint64_t reduced_sum();
void reduced_best(uint64_t& value, uint64_t& index);

// dst[i] = *(src + base + offset[i]), in bytes.
void gather(const Extent& extent, const Tile& dst, const Tile& src, const Tile& offset, uint32_t base);
void gather_blocks(const Tile& dst, const Tile& src, const Tile& offset, uint32_t repeat);
struct GatherMaskJob {
    Tile dst, src, pattern;   // pattern.addr == nullptr: a fixed pattern
    uint8_t fixed;            // 1 to 7
    bool counter;             // `mask` elements per repeat instead of 256 B
    uint32_t mask;
    uint16_t repeats;
};
uint64_t gather_mask(const GatherMaskJob& job);

// Records of 8 B: a value in the low half, an index in the high half.
void sort32(const Tile& dst, const Tile& values, const Tile& indices, int32_t repeat);
struct MergeJob {
    Tile dst, lists[4];
    uint16_t lengths[4];
    uint16_t valid;           // 3, 7 or 15
    bool suspend;             // stop when a list is used up
    int32_t repeats;
};
void merge_sort(const MergeJob& job, const char* name);
void merged_counts(uint16_t (&counts)[4]);
void extract_sorted(const Tile& values, const Tile& indices, const Tile& sorted, int32_t repeat);

void transpose16(const Tile& dst, const Tile& src);
struct LayoutChange {
    Tile dst, src, shared;
    uint32_t n, c, h, w;
    bool to_nhwc;
};
void transpose_layout(const LayoutChange& job);
struct BlockTranspose {
    const uint64_t *dst, *src;   // 16 addresses each
    uint32_t repeats;
    int64_t dst_stride, src_stride;  // in blocks
    bool dst_high, src_high;
    DType type;
};
void transpose_blocks(const BlockTranspose& job);
uint64_t* address_register(int number);  // eight addresses; the next register follows

// GM to local memory, a row-major matrix into columns of 32 B; all strides in bytes.
struct MatrixMove {
    void* dst;
    const void* src;
    Space dst_space, src_space;
    uint32_t dst_room, src_room;
    uint32_t matrices, rows, row_bytes;
    int64_t src_matrix, src_row, src_column;
    int64_t dst_matrix, dst_row, dst_column;
    uint32_t column_bytes;       // bytes of a row that stay together
    bool zero_fill;              // the last column of a row is filled up
    DType type;
    uint8_t cache_mode;
};
void move_matrix(const MatrixMove& job);

// Local registers of DMA.
void set_pad_value(uint64_t bits);
bool pad_value(uint64_t& bits);  // false: SetPadValue was not called
void get_atomic(DType& type, int& operation);
bool saturation();

// The live TPipe, and the bytes of UB its InitBuffer calls left.
void* current_pipe();
Buffer ub_rest();
int64_t vectors_per_group();

// Cores meeting in GM.
void sync_all_in_memory(const void* gm, uint64_t gm_bytes, const void* ub, uint32_t ub_bytes, int used_cores);
void determine_begin(const void* gm);
void determine_wait(const void* gm);
void determine_notify(const void* gm);
void data_cache_clean(const void* addr, bool whole);

// Ends the launch: a device assert, a trap.
[[noreturn]] void device_stop(const char* format, ...) __attribute__((format(printf, 1, 2)));
uint64_t system_cycle();

// A printf argument: 64 bits and how to read them. `%s` takes text, everything else a number.
struct PrintValue {
    enum class Kind : uint8_t { Integer, Number, Text, Pointer };
    Kind kind;
    int64_t integer;
    double number;
    const char* text;
};
void print_formatted(const char* format, const PrintValue* values, size_t count);
void dump_elements(uint32_t id, const char* memory, const void* at, DType type, uint32_t count, const uint32_t* shape, uint32_t dims);

}  // namespace npuforge
