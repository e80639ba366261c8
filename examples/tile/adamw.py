# SPDX-License-Identifier: Apache-2.0
"""One step of AdamW: an optimizer that updates three tensors in place."""

import tile.language as tl


@ascend_kernel
def adamw_kernel(
    param, grad, moment, square, total, per_core, tile, decay, beta1, beta2, rate, root_scale, eps
):
    first = tl.program_id(0) * per_core
    count = min(per_core, total - first)
    p = tl.alloc_ub(tile, dtype=tl.float32)
    g = tl.alloc_ub(tile, dtype=tl.float32)
    m = tl.alloc_ub(tile, dtype=tl.float32)
    v = tl.alloc_ub(tile, dtype=tl.float32)
    new_p = tl.alloc_ub(tile, dtype=tl.float32)
    new_m = tl.alloc_ub(tile, dtype=tl.float32)
    new_v = tl.alloc_ub(tile, dtype=tl.float32)
    root = tl.alloc_ub(tile, dtype=tl.float32)
    for t in range(tl.cdiv(count, tile)):
        start = first + t * tile
        n = min(tile, count - t * tile)
        with tl.copyin():
            tl.load(param + start, p[:n])
            tl.load(grad + start, g[:n])
            tl.load(moment + start, m[:n])
            tl.load(square + start, v[:n])
        with tl.compute():
            tl.mul(new_m[:n], m[:n], beta1)
            tl.axpy(new_m[:n], g[:n], 1.0 - beta1)
            tl.mul(g[:n], g[:n], g[:n])
            tl.mul(new_v[:n], v[:n], beta2)
            tl.axpy(new_v[:n], g[:n], 1.0 - beta2)
            tl.sqrt(root[:n], new_v[:n])
            tl.mul(root[:n], root[:n], root_scale)
            tl.add(root[:n], root[:n], eps)
            tl.div(root[:n], new_m[:n], root[:n])
            tl.mul(new_p[:n], p[:n], decay)
            tl.axpy(new_p[:n], root[:n], rate)
        with tl.copyout():
            tl.store(param + start, new_p[:n])
            tl.store(moment + start, new_m[:n])
            tl.store(square + start, new_v[:n])


def adamw_host(
    param: tl.inout(tl.float32),
    grad: tl.input(tl.float32),
    moment: tl.inout(tl.float32),
    square: tl.inout(tl.float32),
    lr: tl.attr(float, 1e-3),
    beta1: tl.attr(float, 0.9),
    beta2: tl.attr(float, 0.999),
    eps: tl.attr(float, 1e-8),
    weight_decay: tl.attr(float, 1e-2),
    correction1: tl.attr(float),
    root_correction2: tl.attr(float),
):
    """`correction1` is 1 - beta1 ** step, `root_correction2` the root of 1 - beta2 ** step."""
    total = param.numel()
    tl.require(
        grad.numel() == total and moment.numel() == total and square.numel() == total,
        "parameter, gradient and moments have the same number of elements",
    )
    per_core = tl.align_up(max(4096, tl.cdiv(total, tl.num_cores())), 64)
    n_cores = max(1, tl.cdiv(total, per_core))
    # Four inputs and three outputs, each twice, and one temporary: 60 bytes an element.
    tile = min(per_core, tl.align_down((tl.ub_bytes() - 8192) // 60, 64))
    decay = 1.0 - lr * weight_decay
    rate = -lr / correction1
    adamw_kernel[n_cores](
        param, grad, moment, square, total, per_core, tile,
        decay, beta1, beta2, rate, 1.0 / root_correction2, eps,
    )
