// SPDX-License-Identifier: Apache-2.0
// Walks a vector instruction as rows: stretches of elements that are contiguous in every operand.
#pragma once
#include <algorithm>

#include "instr.h"

namespace npuforge {

// fn(pointers, n, element): pointers[i] is where operand i's stretch of n elements starts; `element`
// is the number of its first element when masked ones are counted too.
template <size_t N, typename Fn>
void for_rows_at(const Lanes& lanes, const Tile* const (&tiles)[N], Fn fn) {
    uint8_t* at[N];
    if (lanes.total == 0) return;
    bool contiguous = lanes.contiguous_lanes;
    for (const Tile* t : tiles)
        contiguous = contiguous && t->block_stride == 1 &&
                     (lanes.repeats == 1 || t->repeat_stride * 32u == lanes.per_repeat * dtype_bytes(t->type));
    if (contiguous) {
        for (size_t i = 0; i < N; ++i) at[i] = static_cast<uint8_t*>(tiles[i]->addr);
        fn(at, static_cast<uint32_t>(lanes.total), 0u);
        return;
    }
    // Lanes that stay contiguous whatever the block strides: one block of the widest operand; the
    // whole repeat when no operand skips blocks.
    uint32_t chunk = lanes.per_repeat;
    for (const Tile* t : tiles)
        if (t->block_stride != 1) chunk = std::min(chunk, 32 / dtype_bytes(t->type));

    struct Run { uint16_t lane, lanes; } runs[128];
    uint32_t n_runs = 0;
    const auto active = [&](uint32_t l) { return ((lanes.mask[l >> 6] >> (l & 63)) & 1) != 0; };
    for (uint32_t lane = 0; lane < lanes.per_repeat;) {
        if (lanes.per_repeat <= 128 && !active(lane)) {
            ++lane;
            continue;
        }
        const uint32_t stop = std::min(lanes.per_repeat, (lane / chunk + 1) * chunk);
        uint32_t end = lane;
        while (end < stop && (lanes.per_repeat > 128 || active(end))) ++end;
        runs[n_runs++] = {static_cast<uint16_t>(lane), static_cast<uint16_t>(end - lane)};
        lane = end;
    }
    for (uint32_t r = 0; r < lanes.repeats; ++r) {
        const uint32_t limit = lanes.last_lanes != 0 && r + 1 == lanes.repeats ? lanes.last_lanes : lanes.per_repeat;
        for (uint32_t k = 0; k < n_runs && runs[k].lane < limit; ++k) {
            const uint32_t lane = runs[k].lane;
            for (size_t i = 0; i < N; ++i) {
                const Tile& t = *tiles[i];
                const uint32_t size = dtype_bytes(t.type), per_block = 32 / size;
                at[i] = static_cast<uint8_t*>(t.addr) + int64_t(r) * t.repeat_stride * 32 +
                        int64_t(lane / per_block) * t.block_stride * 32 + (lane % per_block) * size;
            }
            fn(at, std::min<uint32_t>(runs[k].lanes, limit - lane), r * lanes.per_repeat + lane);
        }
    }
}

// fn(pointers, n), for instructions that do not care which elements they work on.
template <size_t N, typename Fn> void for_rows(const Lanes& lanes, const Tile* const (&tiles)[N], Fn fn) {
    for_rows_at(lanes, tiles, [&](uint8_t* const* at, uint32_t n, uint32_t) { fn(at, n); });
}

}  // namespace npuforge
