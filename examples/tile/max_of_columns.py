# SPDX-License-Identifier: Apache-2.0
"""Largest element of every column: a reduction over the first axis."""

import tile.language as tl


@ascend_kernel
def max_of_columns_kernel(x, y, rows, cols, tile_rows, tile_cols):
    left = tl.program_id(0) * tile_cols
    w = min(tile_cols, cols - left)
    tile = tl.alloc_ub((tile_rows, tile_cols), dtype=tl.float32)
    part = tl.alloc_ub(tile_cols, dtype=tl.float32)
    best = tl.alloc_ub(tile_cols, dtype=tl.float32)
    with tl.compute():
        tl.fill(best, -tl.inf)
    for t in range(tl.cdiv(rows, tile_rows)):
        row = t * tile_rows
        n = min(tile_rows, rows - row)
        with tl.copyin():
            tl.load(x + row * cols + left, tile[:n, :w], stride=cols)
        with tl.compute():
            tl.reduce_max(part[:w], tile[:n, :w], axis=0)
            tl.maximum(best[:w], best[:w], part[:w])
    with tl.copyout():
        tl.store(y + left, best[:w])


def max_of_columns_host(x: tl.input(tl.float32), y: tl.output(tl.float32, (x.shape[1],))):
    rows, cols = x.shape
    tl.require(rows >= 1, "the largest of nothing is not defined")
    # Every core takes a stripe of columns, as wide as possible, so that no sums meet.
    tile_cols = tl.align_up(max(1, tl.cdiv(cols, tl.num_cores())), 64)
    tl.require(tile_cols <= 4096, "a stripe of columns must fit the unified buffer")
    n_cores = max(1, tl.cdiv(cols, tile_cols))
    # The tile twice, and half of it again while it is folded: 12 bytes an element.
    tile_rows = max(1, min(rows, (tl.ub_bytes() - 12 * tile_cols - 32768) // (12 * tile_cols)))
    max_of_columns_kernel[n_cores](x, y, rows, cols, tile_rows, tile_cols)
