# SPDX-License-Identifier: Apache-2.0
"""Layer normalization of rows, with scale and shift: two reductions and broadcasts both ways."""

import tile.language as tl


@ascend_kernel
def layer_norm_kernel(x, gamma, beta, y, rows, cols, rows_per_core, tile_rows, share, eps):
    first = tl.program_id(0) * rows_per_core
    count = min(rows_per_core, rows - first)
    tile_in = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    tile_out = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    scale = tl.alloc_ub(cols, dtype=tl.float32, buffers=1)
    shift = tl.alloc_ub(cols, dtype=tl.float32, buffers=1)
    mean = tl.alloc_ub(tile_rows, dtype=tl.float32)
    spread = tl.alloc_ub(tile_rows, dtype=tl.float32)
    with tl.copyin():
        tl.load(gamma, scale)
        tl.load(beta, shift)
    for t in range(tl.cdiv(count, tile_rows)):
        row = t * tile_rows
        n = min(tile_rows, count - row)
        with tl.copyin():
            tl.load(x + (first + row) * cols, tile_in[:n, :], stride=cols)
        with tl.compute():
            tl.reduce_sum(mean[:n], tile_in[:n, :], axis=1)
            tl.mul(mean[:n], mean[:n], share)
            tl.sub(tile_in[:n, :], tile_in[:n, :], mean[:n, None])
            tl.mul(tile_out[:n, :], tile_in[:n, :], tile_in[:n, :])
            tl.reduce_sum(spread[:n], tile_out[:n, :], axis=1)
            tl.mul(spread[:n], spread[:n], share)
            tl.add(spread[:n], spread[:n], eps)
            tl.sqrt(spread[:n], spread[:n])
            tl.div(spread[:n], 1.0, spread[:n])
            tl.mul(tile_out[:n, :], tile_in[:n, :], spread[:n, None])
            tl.mul(tile_out[:n, :], tile_out[:n, :], scale)
            tl.add(tile_out[:n, :], tile_out[:n, :], shift)
        with tl.copyout():
            tl.store(y + (first + row) * cols, tile_out[:n, :], stride=cols)


def layer_norm_host(
    x: tl.input(tl.float32),
    gamma: tl.input(tl.float32),
    beta: tl.input(tl.float32),
    y: tl.output(tl.float32, x.shape),
    eps: tl.attr(float, 1e-5),
):
    rows, cols = x.shape
    tl.require(1 <= cols <= 8192, "a row must fit the unified buffer")
    tl.require(gamma.numel() == cols and beta.numel() == cols, "one scale and shift a column")
    n_cores = max(1, min(tl.num_cores(), rows, tl.cdiv(rows * cols, 4096)))
    rows_per_core = tl.cdiv(rows, n_cores)
    # Scale and shift stay: 8 bytes a column. Two tiles, each twice: 16 bytes an element. 300 bytes a
    # row for its numbers and the temporaries of reductions, 12 KB for rounding.
    width = tl.align_up(cols, 8)
    tile_rows = max(1, min(rows_per_core, (tl.ub_bytes() - 8 * width - 12288) // (16 * width + 300)))
    share = 1.0 / float(cols)
    layer_norm_kernel[n_cores](
        x, gamma, beta, y, rows, cols, rows_per_core, tile_rows, share, eps
    )
