# SPDX-License-Identifier: Apache-2.0
"""Softmax over the last axis of a matrix, whole rows at a time."""

import tile.language as tl


@ascend_kernel
def softmax_kernel(x, y, rows, cols, rows_per_core, tile_rows):
    first = tl.program_id(0) * rows_per_core
    count = min(rows_per_core, rows - first)
    tile_in = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    tile_out = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    peak = tl.alloc_ub(tile_rows, dtype=tl.float32)
    total = tl.alloc_ub(tile_rows, dtype=tl.float32)
    for t in range(tl.cdiv(count, tile_rows)):
        row = first + t * tile_rows
        n = min(tile_rows, first + count - row)
        with tl.copyin():
            tl.load(x + row * cols, tile_in[:n, :], stride=cols)
        with tl.compute():
            tl.reduce_max(peak[:n], tile_in[:n, :], axis=1)
            tl.sub(tile_out[:n, :], tile_in[:n, :], peak[:n, None])
            tl.exp(tile_out[:n, :], tile_out[:n, :])
            tl.reduce_sum(total[:n], tile_out[:n, :], axis=1)
            tl.div(total[:n], 1.0, total[:n])
            tl.mul(tile_out[:n, :], tile_out[:n, :], total[:n, None])
        with tl.copyout():
            tl.store(y + row * cols, tile_out[:n, :], stride=cols)


def softmax_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    rows, cols = x.shape
    tl.require(cols <= 8192, "a row must fit the unified buffer")
    n_cores = max(1, min(tl.num_cores(), rows, tl.cdiv(rows * cols, 4096)))
    rows_per_core = tl.cdiv(rows, n_cores)
    # Two tiles, each twice for double buffering: 16 bytes an element. A row takes 300 bytes more for
    # two columns and the temporaries of its reduction; 12 KB are left for rounding.
    width = tl.align_up(cols, 8)
    tile_rows = max(1, min(rows_per_core, (tl.ub_bytes() - 12288) // (16 * width + 300)))
    softmax_kernel[n_cores](x, y, rows, cols, rows_per_core, tile_rows)
