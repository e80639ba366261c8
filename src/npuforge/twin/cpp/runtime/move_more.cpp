// SPDX-License-Identifier: Apache-2.0
// Moves that change a matrix's layout: rows of a matrix to columns of blocks and back. The library does
// them with ordinary copies, column by column.
#include <algorithm>
#include <cstring>

#include "../npu/abi_more.h"

namespace npuforge {

namespace {

// One column of blocks of one matrix as an ordinary strided move.
Dma column_of(const MatrixMove& job, uint32_t matrix, uint32_t from_byte) {
    Dma move{};
    const uint32_t bytes = std::min(job.column_bytes, job.row_bytes - from_byte);
    const int64_t column = from_byte / job.column_bytes;
    move.src = static_cast<const uint8_t*>(job.src) + matrix * job.src_matrix + column * job.src_column;
    move.dst = static_cast<uint8_t*>(job.dst) + matrix * job.dst_matrix + column * job.dst_column;
    move.src_space = job.src_space;
    move.dst_space = job.dst_space;
    const auto left = [](uint32_t room, int64_t used) {
        return room == 0 ? 0u : static_cast<uint32_t>(std::max<int64_t>(1, int64_t(room) - used));
    };
    move.src_room = left(job.src_room, matrix * job.src_matrix + column * job.src_column);
    move.dst_room = left(job.dst_room, matrix * job.dst_matrix + column * job.dst_column);
    move.rows = job.rows;
    move.row_bytes = bytes;
    move.src_step = job.src_row;
    move.dst_step = job.dst_row;
    move.type = job.type;
    move.element_bytes = dtype_bytes(job.type);
    move.cache_mode = job.cache_mode;
    move.name = "DataCopy";
    if (job.zero_fill && bytes < job.column_bytes) {
        move.byte_granular = true;
        move.filled = true;
        move.right_pad = job.column_bytes - bytes;
    }
    return move;
}

}  // namespace

void move_matrix(const MatrixMove& job) {
    for (uint32_t m = 0; m < job.matrices; ++m)
        for (uint32_t at = 0; at < job.row_bytes; at += job.column_bytes) dma(column_of(job, m, at));
}

}  // namespace npuforge
