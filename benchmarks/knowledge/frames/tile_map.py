import tile.language as tl


@ascend_kernel
def op_kernel(x, y, n, per_core, tile):
    first = tl.program_id(0) * per_core
    count = min(per_core, n - first)
    a = tl.alloc_ub(tile, dtype=@T@)
    b = tl.alloc_ub(tile, dtype=@U@)
    @ALLOC@
    for t in range(tl.cdiv(count, tile)):
        start = first + t * tile
        m = min(tile, count - t * tile)
        with tl.copyin():
            tl.load(x + start, a[:m])
        with tl.compute():
            @BODY@
        with tl.copyout():
            tl.store(y + start, b[:m])


def op_host(x: tl.input(@T@), y: tl.output(@U@, x.shape)):
    n = x.numel()
    per_core = tl.align_up(max(@LEAST@, tl.cdiv(n, tl.num_cores())), 128)
    n_cores = max(1, tl.cdiv(n, per_core))
    # Input and output twice each for double buffering, and the temporaries: @BYTES@ bytes an element.
    tile = min(per_core, tl.align_down((tl.ub_bytes() - 8192) // @BYTES@, 128))
    op_kernel[n_cores](x, y, n, per_core, tile)
