// SPDX-License-Identifier: Apache-2.0
// Walks a vector instruction as rows: stretches of elements that are contiguous in every operand.
#pragma once
#include <algorithm>

#include "instr.h"

namespace npuforge {

// fn(pointers, n): pointers[i] is where operand i's stretch of n elements starts.
template <size_t N, typename Fn> void for_rows(const Lanes& lanes, const Tile* const (&tiles)[N], Fn fn) {
    uint8_t* at[N];
    if (lanes.total == 0) return;
    bool contiguous = lanes.contiguous_lanes;
    for (const Tile* t : tiles)
        contiguous = contiguous && t->block_stride == 1 && t->repeat_stride * 32u == lanes.per_repeat * dtype_bytes(t->type);
    if (contiguous) {
        for (size_t i = 0; i < N; ++i) at[i] = static_cast<uint8_t*>(tiles[i]->addr);
        fn(at, static_cast<uint32_t>(lanes.total));
        return;
    }
    // Lanes that stay contiguous whatever the block strides: one block of the widest operand; the
    // whole repeat when no operand skips blocks.
    uint32_t chunk = lanes.per_repeat;
    for (const Tile* t : tiles)
        if (t->block_stride != 1) chunk = std::min(chunk, 32 / dtype_bytes(t->type));
    for (uint32_t r = 0; r < lanes.repeats; ++r) {
        const bool tail = lanes.last_lanes != 0 && r + 1 == lanes.repeats;
        const uint32_t end = tail ? lanes.last_lanes : lanes.per_repeat;
        uint32_t lane = 0;
        while (lane < end) {
            if (!tail && ((lanes.mask[lane >> 6] >> (lane & 63)) & 1) == 0) {
                ++lane;
                continue;
            }
            const uint32_t stop = std::min(end, (lane / chunk + 1) * chunk);
            uint32_t n = lane;
            while (n < stop && (tail || ((lanes.mask[n >> 6] >> (n & 63)) & 1))) ++n;
            for (size_t i = 0; i < N; ++i) {
                const Tile& t = *tiles[i];
                const uint32_t size = dtype_bytes(t.type), per_block = 32 / size;
                at[i] = static_cast<uint8_t*>(t.addr) + int64_t(r) * t.repeat_stride * 32 +
                        int64_t(lane / per_block) * t.block_stride * 32 + (lane % per_block) * size;
            }
            fn(at, n - lane);
            lane = n;
        }
    }
}

}  // namespace npuforge
