# SPDX-License-Identifier: Apache-2.0
"""y = x * a[:, None] + b: a column and a row repeated over a matrix."""

import tile.language as tl


@ascend_kernel
def scale_shift_kernel(x, a, b, y, rows, cols, rows_per_core, tile_rows):
    first = tl.program_id(0) * rows_per_core
    count = min(rows_per_core, rows - first)
    tile_in = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    tile_out = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    factor = tl.alloc_ub(tile_rows, dtype=tl.float32)
    shift = tl.alloc_ub(cols, dtype=tl.float32, buffers=1)
    with tl.copyin():
        tl.load(b, shift)
    for t in range(tl.cdiv(count, tile_rows)):
        row = t * tile_rows
        n = min(tile_rows, count - row)
        with tl.copyin():
            tl.load(x + (first + row) * cols, tile_in[:n, :], stride=cols)
            tl.load(a + first + row, factor[:n])
        with tl.compute():
            tl.mul(tile_out[:n, :], tile_in[:n, :], factor[:n, None])
            tl.add(tile_out[:n, :], tile_out[:n, :], shift)
        with tl.copyout():
            tl.store(y + (first + row) * cols, tile_out[:n, :], stride=cols)


def scale_shift_host(
    x: tl.input(tl.float32),
    a: tl.input(tl.float32),
    b: tl.input(tl.float32),
    y: tl.output(tl.float32, x.shape),
):
    rows, cols = x.shape
    tl.require(1 <= cols <= 8192, "a row must fit the unified buffer")
    tl.require(a.numel() == rows and b.numel() == cols, "one factor a row, one summand a column")
    n_cores = max(1, min(tl.num_cores(), rows, tl.cdiv(rows * cols, 4096)))
    rows_per_core = tl.cdiv(rows, n_cores)
    # The row stays; input and output twice each, and a column of factors twice.
    width = tl.align_up(cols, 8)
    tile_rows = max(1, min(rows_per_core, (tl.ub_bytes() - 4 * width - 16384) // (16 * width + 8)))
    scale_shift_kernel[n_cores](x, a, b, y, rows, cols, rows_per_core, tile_rows)
