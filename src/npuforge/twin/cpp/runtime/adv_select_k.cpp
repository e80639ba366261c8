// SPDX-License-Identifier: Apache-2.0
// TopK: the first k of each row in descending or ascending order, equal values by position.
#include <numeric>

#include "adv_values.h"

namespace npuforge {
namespace {

// NaN comes first in either direction.
bool before(float a, float b, bool largest) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
    return largest ? a > b : a < b;
}

}  // namespace

void library_top_k(const TopKCall& call) {
    LibraryCall instr("TopK", NPUFORGE_SITE());
    const auto rows = static_cast<uint32_t>(call.rows), stride = static_cast<uint32_t>(call.stride);
    const auto k = static_cast<uint32_t>(call.k);
    const auto round_up = [](uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; };
    const uint32_t value_step = call.small ? k : round_up(k, per_block(call.values.type));
    const uint32_t index_step = call.small ? k : round_up(k, 8);
    instr.requires_that(stride % 32 == 0 && stride > 0, "inner must be a multiple of 32", stride);
    instr.requires_that(!call.small || stride == 32, "inner must be 32 in small mode", stride);
    instr.requires_that(stride <= 4096, "inner must not exceed 4096", stride);
    instr.requires_that(call.columns >= 1 && call.columns <= call.stride, "n must be within inner",
                        static_cast<uint64_t>(call.columns));
    instr.requires_that(call.k >= 1 && call.k <= call.columns, "k must be within n", k);
    instr.requires_that(!(call.small && call.has_finish), "small mode has no finish tensor", 1);
    // Sorting keeps pairs of value and index for one row, twice (in small mode: for all rows).
    instr.scratch(call.tmp, uint64_t(call.small ? rows : 1) * stride * 8 * 2);
    instr.reads(call.src, uint64_t(rows) * stride, "src");
    if (call.has_indices) instr.reads(call.src_indices, call.small ? uint64_t(rows) * stride : stride, "srcIndex");
    if (call.has_finish) instr.reads(call.finish, rows, "finish");
    instr.writes_rows(call.values, 0, rows, k, value_step, "dstValue");
    instr.spoils_rows(call.values, k, rows, value_step - k, value_step, "dstValue");
    instr.writes_rows(call.indices, 0, rows, k, index_step, "dstIndex");
    instr.spoils_rows(call.indices, k, rows, index_step - k, index_step, "dstIndex");
    if (!instr.commit(dtype_bytes(call.src.type), uint64_t(rows) * stride, rows)) return;

    std::vector<float> line(stride);
    std::vector<uint32_t> order(stride);
    const auto* given = static_cast<const int32_t*>(call.src_indices.addr);
    const auto* finish = static_cast<const uint8_t*>(call.finish.addr);
    auto* indices = static_cast<int32_t*>(call.indices.addr);
    for (uint32_t r = 0; r < rows; ++r) {
        load(call.src, uint64_t(r) * stride, stride, line.data());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(),
                         [&](uint32_t a, uint32_t b) { return before(line[a], line[b], call.largest); });
        const bool finished = call.has_finish && finish[r] != 0;
        for (uint32_t i = 0; i < k; ++i) {
            const uint32_t from = order[i];
            store_one(call.values, uint64_t(r) * value_step + i, line[from]);
            int32_t index = static_cast<int32_t>(from);
            if (call.has_indices) index = given[call.small ? uint64_t(r) * stride + from : from];
            indices[uint64_t(r) * index_step + i] = finished ? call.columns : index;
        }
    }
}

}  // namespace npuforge
