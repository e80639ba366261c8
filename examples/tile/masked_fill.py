# SPDX-License-Identifier: Apache-2.0
"""Elements replaced where a tensor of truth values says so."""

import tile.language as tl


@ascend_kernel
def masked_fill_kernel(x, where, y, total, per_core, tile, value):
    first = tl.program_id(0) * per_core
    count = min(per_core, total - first)
    tile_in = tl.alloc_ub(tile, dtype=tl.float32)
    chosen = tl.alloc_ub(tile, dtype=tl.bool)
    mask = tl.alloc_mask(tile)
    tile_out = tl.alloc_ub(tile, dtype=tl.float32)
    for t in range(tl.cdiv(count, tile)):
        start = t * tile
        n = min(tile, count - start)
        with tl.copyin():
            tl.load(x + first + start, tile_in[:n])
            tl.load(where + first + start, chosen[:n])
        with tl.compute():
            tl.mask_from_bool(mask[:n], chosen[:n])
            tl.select(tile_out[:n], mask[:n], value, tile_in[:n])
        with tl.copyout():
            tl.store(y + first + start, tile_out[:n])


def masked_fill_host(
    x: tl.input(tl.float32),
    where: tl.input(tl.bool),
    y: tl.output(tl.float32, x.shape),
    value: tl.attr(float, 0.0),
):
    total = x.numel()
    tl.require(where.numel() == total, "one truth value for each element")
    per_core = tl.align_up(max(4096, tl.cdiv(total, tl.num_cores())), 256)
    n_cores = max(1, tl.cdiv(total, per_core))
    # Input and output twice (16 bytes), truth values twice (2), their float16 form on the way to
    # bits (2), and the filled operand (4): 24 bytes and an eighth an element.
    tile = min(per_core, tl.align_down((tl.ub_bytes() - 8192) // 26, 256))
    masked_fill_kernel[n_cores](x, where, y, total, per_core, tile, value)
