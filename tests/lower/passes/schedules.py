# SPDX-License-Identifier: Apache-2.0
"""A program with a choice between two launches after each other and one alone."""

from __future__ import annotations

SCHEDULES = """\
import tile.language as tl


@ascend_kernel
def first_kernel(x, w, n):
    a = tl.alloc_ub(64, dtype=tl.float32)
    with tl.copyin():
        tl.load(x, a)
    with tl.copyout():
        tl.store(w + n, a)


@ascend_kernel
def second_kernel(w, y, tile):
    a = tl.alloc_ub(tile, dtype=tl.float32)
    p = tl.num_programs(0)
    with tl.copyin():
        tl.load(w + p, a)
    with tl.copyout():
        tl.store(y, a)


def demo_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    n = x.numel()
    tl.require(n > 8, "too short")
    w = tl.workspace((n, 2), tl.float32)
    # Two tiles at a time.
    tile = min(4096, n)
    if n > 100:
        first_kernel[8](x, w, n)
        second_kernel[4](w, y, tile)
    else:
        second_kernel[2](x, y, tile)
"""
