# SPDX-License-Identifier: Apache-2.0
"""A matrix transposed: square tiles turned on the chip, so that both sides move whole rows."""

import tile.language as tl

SIDE = 64


@ascend_kernel
def transpose_kernel(x, y, rows, cols, tiles, tiles_across, tiles_per_core):
    first = tl.program_id(0) * tiles_per_core
    count = min(tiles_per_core, tiles - first)
    tile_in = tl.alloc_ub((SIDE, SIDE), dtype=tl.float32)
    tile_out = tl.alloc_ub((SIDE, SIDE), dtype=tl.float32)
    for t in range(count):
        top = (first + t) // tiles_across * SIDE
        left = (first + t) % tiles_across * SIDE
        h = min(SIDE, rows - top)
        w = min(SIDE, cols - left)
        with tl.copyin():
            tl.load(x + top * cols + left, tile_in[:h, :w], stride=cols)
        with tl.compute():
            tl.transpose(tile_out[:w, :h], tile_in[:h, :w])
        with tl.copyout():
            tl.store(y + left * rows + top, tile_out[:w, :h], stride=rows)


def transpose_host(
    x: tl.input(tl.float32), y: tl.output(tl.float32, (x.shape[1], x.shape[0]))
):
    rows, cols = x.shape
    # 16 KiB a tile, two tiles, twice each: 64 KiB; the rest is for the turning itself.
    tiles_across = max(1, tl.cdiv(cols, SIDE))
    tiles = tl.cdiv(rows, SIDE) * tl.cdiv(cols, SIDE)
    n_cores = max(1, min(tl.num_cores(), tiles))
    tiles_per_core = tl.cdiv(tiles, n_cores)
    transpose_kernel[n_cores](x, y, rows, cols, tiles, tiles_across, tiles_per_core)
