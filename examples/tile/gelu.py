# SPDX-License-Identifier: Apache-2.0
"""GELU of a float16 tensor of any shape: an activation, computed in float32."""

import tile.language as tl


@ascend_kernel
def gelu_kernel(x, y, total, per_core, tile):
    first = tl.program_id(0) * per_core
    count = min(per_core, total - first)
    tile_in = tl.alloc_ub(tile, dtype=tl.float16)
    tile_out = tl.alloc_ub(tile, dtype=tl.float16)
    value = tl.alloc_ub(tile, dtype=tl.float32)
    share = tl.alloc_ub(tile, dtype=tl.float32)
    for t in range(tl.cdiv(count, tile)):
        start = t * tile
        n = min(tile, count - start)
        with tl.copyin():
            tl.load(x + first + start, tile_in[:n])
        with tl.compute():
            tl.cast(value[:n], tile_in[:n])
            tl.mul(share[:n], value[:n], 0.7071067811865476)
            tl.erf(share[:n], share[:n])
            tl.add(share[:n], share[:n], 1.0)
            tl.mul(value[:n], value[:n], 0.5)
            tl.mul(value[:n], value[:n], share[:n])
            tl.cast(tile_out[:n], value[:n], round="rint")
        with tl.copyout():
            tl.store(y + first + start, tile_out[:n])


def gelu_host(x: tl.input(tl.float16), y: tl.output(tl.float16, x.shape)):
    total = x.numel()
    # A core gets 4096 elements or more: starting another costs more than it saves.
    per_core = tl.align_up(max(4096, tl.cdiv(total, tl.num_cores())), 64)
    n_cores = max(1, tl.cdiv(total, per_core))
    # Input and output twice for double buffering (8 bytes), two float tiles (8 bytes), the temporaries
    # of erf (16 bytes and two bits): 33 bytes an element, and 8 KB for rounding.
    tile = min(per_core, tl.align_down((tl.ub_bytes() - 8192) // 33, 64))
    gelu_kernel[n_cores](x, y, total, per_core, tile)
