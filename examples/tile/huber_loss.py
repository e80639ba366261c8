# SPDX-License-Identifier: Apache-2.0
"""Mean Huber loss: element-wise work, then one number from all cores by way of a workspace."""

import tile.language as tl


@ascend_kernel
def partial_kernel(x, target, partial, total, per_core, tile, delta):
    core = tl.program_id(0)
    first = core * per_core
    count = min(per_core, total - first)
    tile_x = tl.alloc_ub(tile, dtype=tl.float32)
    tile_t = tl.alloc_ub(tile, dtype=tl.float32)
    linear = tl.alloc_ub(tile, dtype=tl.float32)
    total_tile = tl.alloc_ub(tile, dtype=tl.float32)
    total_one = tl.alloc_ub(8, dtype=tl.float32)
    with tl.compute():
        tl.fill(total_tile, 0.0)
    for t in range(tl.cdiv(count, tile)):
        start = t * tile
        n = min(tile, count - start)
        with tl.copyin():
            tl.load(x + first + start, tile_x[:n])
            tl.load(target + first + start, tile_t[:n])
        with tl.compute():
            # With a = |x - t| and c = min(a, delta) the loss is c * (a - c / 2).
            tl.sub(linear[:n], tile_x[:n], tile_t[:n])
            tl.abs(linear[:n], linear[:n])
            tl.minimum(tile_x[:n], linear[:n], delta)
            tl.axpy(linear[:n], tile_x[:n], -0.5)
            tl.mul_add(total_tile[:n], linear[:n], tile_x[:n])
    with tl.compute():
        tl.reduce_sum(total_one[:1], total_tile)
    with tl.copyout():
        tl.store(partial + core, total_one[:1])


@ascend_kernel
def finish_kernel(partial, loss, parts, scale):
    tile = tl.alloc_ub(parts, dtype=tl.float32)
    one = tl.alloc_ub(8, dtype=tl.float32)
    with tl.copyin():
        tl.load(partial, tile)
    with tl.compute():
        tl.reduce_sum(one[:1], tile)
        tl.mul(one[:1], one[:1], scale)
    with tl.copyout():
        tl.store(loss, one[:1])


def huber_loss_host(
    x: tl.input(tl.float32),
    target: tl.input(tl.float32),
    loss: tl.output(tl.float32, (1,)),
    delta: tl.attr(float, 1.0),
):
    total = x.numel()
    tl.require(total >= 1, "the mean of nothing is not defined")
    tl.require(target.numel() == total, "x and target have the same number of elements")
    per_core = tl.align_up(max(4096, tl.cdiv(total, tl.num_cores())), 64)
    n_cores = tl.cdiv(total, per_core)
    # Two inputs twice for double buffering, two more tiles: 24 bytes an element. The sum stays a
    # whole tile until the end: one reduction for each core.
    tile = min(per_core, tl.align_down((tl.ub_bytes() - 24576) // 24, 64))
    partial = tl.workspace((n_cores,), tl.float32)
    partial_kernel[n_cores](x, target, partial, total, per_core, tile, delta)
    finish_kernel[1](partial, loss, n_cores, 1.0 / float(total))
