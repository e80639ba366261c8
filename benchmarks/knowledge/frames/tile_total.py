import tile.language as tl


@ascend_kernel
def clear_kernel(y):
    zero = tl.alloc_ub(8, dtype=tl.float32)
    with tl.compute():
        tl.fill(zero, 0.0)
    with tl.copyout():
        tl.store(y, zero[:1])


@ascend_kernel
def sum_kernel(x, y, n, per_core, tile):
    first = tl.program_id(0) * per_core
    count = min(per_core, n - first)
    a = tl.alloc_ub(tile, dtype=tl.float32)
    acc = tl.alloc_ub(tile, dtype=tl.float32)
    one = tl.alloc_ub(8, dtype=tl.float32)
    with tl.compute():
        tl.fill(acc, 0.0)
    for t in range(tl.cdiv(count, tile)):
        m = min(tile, count - t * tile)
        with tl.copyin():
            tl.load(x + first + t * tile, a[:m])
        with tl.compute():
            tl.add(acc[:m], acc[:m], a[:m])
    with tl.compute():
        tl.reduce_sum(one[:1], acc)
    with tl.copyout():
        tl.store(y, one[:1], atomic="add")


def total_host(x: tl.input(tl.float32), y: tl.output(tl.float32, (1,))):
    n = x.numel()
    per_core = tl.align_up(max(4096, tl.cdiv(n, tl.num_cores())), 64)
    n_cores = max(1, tl.cdiv(n, per_core))
    # The input twice, the running sum once, and room for its reduction: 16 bytes an element.
    tile = min(per_core, tl.align_down(tl.ub_bytes() // 16 - 64, 64))
    clear_kernel[1](y)
    sum_kernel[n_cores](x, y, n, per_core, tile)
