# SPDX-License-Identifier: Apache-2.0
"""Running sums of rows: a scan, with one schedule for short rows and one for long ones."""

import tile.language as tl


@ascend_kernel
def short_rows_kernel(x, y, rows, cols, rows_per_core, tile_rows):
    first = tl.program_id(0) * rows_per_core
    count = min(rows_per_core, rows - first)
    tile_in = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    tile_out = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    for t in range(tl.cdiv(count, tile_rows)):
        row = t * tile_rows
        n = min(tile_rows, count - row)
        with tl.copyin():
            tl.load(x + (first + row) * cols, tile_in[:n, :], stride=cols)
        with tl.compute():
            tl.cumsum(tile_out[:n, :], tile_in[:n, :], axis=1)
        with tl.copyout():
            tl.store(y + (first + row) * cols, tile_out[:n, :], stride=cols)


@ascend_kernel
def long_rows_kernel(x, y, rows, cols, rows_per_core, tile):
    first = tl.program_id(0) * rows_per_core
    count = min(rows_per_core, rows - first)
    tile_in = tl.alloc_ub(tile, dtype=tl.float32)
    tile_out = tl.alloc_ub(tile, dtype=tl.float32)
    for r in range(count):
        carry = 0.0
        for t in range(tl.cdiv(cols, tile)):
            start = t * tile
            n = min(tile, cols - start)
            with tl.copyin():
                tl.load(x + (first + r) * cols + start, tile_in[:n])
            with tl.compute():
                tl.cumsum(tile_out[:n], tile_in[:n])
                tl.add(tile_out[:n], tile_out[:n], carry)
                carry = tl.extract_scalar(tile_out, n - 1)
            with tl.copyout():
                tl.store(y + (first + r) * cols + start, tile_out[:n])


def cumsum_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    rows, cols = x.shape
    rows = min(rows, x.numel())  # rows without elements need no work
    n_cores = max(1, min(tl.num_cores(), rows))
    rows_per_core = tl.cdiv(rows, n_cores)
    if cols <= 2048:
        # Input and output, each twice, and as much again for the temporaries of the scan.
        row_bytes = 24 * tl.align_up(max(cols, 1), 8)
        tile_rows = max(1, min(rows_per_core, (tl.ub_bytes() - 24576) // row_bytes))
        short_rows_kernel[n_cores](x, y, rows, max(cols, 1), rows_per_core, tile_rows)
    else:
        # 24 bytes an element as above; a row is summed in pieces, each starting from the last sum.
        tile = tl.align_down((tl.ub_bytes() - 24576) // 24, 64)
        long_rows_kernel[n_cores](x, y, rows, cols, rows_per_core, tile)
