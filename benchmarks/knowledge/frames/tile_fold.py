import tile.language as tl


@ascend_kernel
def op_kernel(x, y, rows, cols, rows_per_core, tile_rows):
    first = tl.program_id(0) * rows_per_core
    count = min(rows_per_core, rows - first)
    tile_in = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    result = tl.alloc_ub(tile_rows, dtype=tl.float32)
    @ALLOC@
    for t in range(tl.cdiv(count, tile_rows)):
        row = first + t * tile_rows
        n = min(tile_rows, count - t * tile_rows)
        with tl.copyin():
            tl.load(x + row * cols, tile_in[:n, :], stride=cols)
        with tl.compute():
            @BODY@
        with tl.copyout():
            tl.store(y + row, result[:n])


def op_host(x: tl.input(tl.float32), y: tl.output(tl.float32, (x.shape[0],))):
    rows, cols = x.shape
    tl.require(1 <= cols <= 2048, "a row must fit the unified buffer")
    n_cores = max(1, min(tl.num_cores(), rows))
    rows_per_core = tl.cdiv(rows, n_cores)
    # The tile twice, temporaries of the reduction and of this operator: 24 bytes an element.
    width = tl.align_up(cols, 8)
    tile_rows = max(1, min(rows_per_core, @ROWS@, (tl.ub_bytes() - 12288) // (24 * width + 300)))
    op_kernel[n_cores](x, y, rows, cols, rows_per_core, tile_rows)
