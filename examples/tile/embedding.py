# SPDX-License-Identifier: Apache-2.0
"""Rows of a table chosen by index: indices are scalars, rows move as large transfers."""

import tile.language as tl


@ascend_kernel
def embedding_kernel(table, index, y, count, dim, per_core, tile_rows):
    first = tl.program_id(0) * per_core
    mine = min(per_core, count - first)
    rows = tl.alloc_ub((tile_rows, dim), dtype=tl.float32)
    for t in range(tl.cdiv(mine, tile_rows)):
        start = first + t * tile_rows
        n = min(tile_rows, mine - t * tile_rows)
        with tl.copyin():
            for r in range(n):
                row = tl.load_scalar(index + start + r)
                tl.load(table + row * dim, rows[r, :])
        with tl.copyout():
            tl.store(y + start * dim, rows[:n, :], stride=dim)


def embedding_host(
    table: tl.input(tl.float32),
    index: tl.input(tl.int64),
    y: tl.output(tl.float32, (index.numel(), table.shape[1])),
):
    entries, dim = table.shape
    tl.require(1 <= dim <= 16384, "a row must fit the unified buffer")
    count = index.numel()
    n_cores = max(1, min(tl.num_cores(), count))
    per_core = tl.cdiv(count, n_cores)
    # One tile of rows, twice: 8 bytes an element.
    tile_rows = max(1, min(per_core, (tl.ub_bytes() - 8192) // (8 * tl.align_up(dim, 8))))
    embedding_kernel[n_cores](table, index, y, count, dim, per_core, tile_rows)
