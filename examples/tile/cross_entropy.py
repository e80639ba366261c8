# SPDX-License-Identifier: Apache-2.0
"""Cross entropy of every row of scores against a class: a loss with a chosen element a row."""

import tile.language as tl


@ascend_kernel
def cross_entropy_kernel(scores, classes, loss, rows, cols, rows_per_core, tile_rows):
    first = tl.program_id(0) * rows_per_core
    count = min(rows_per_core, rows - first)
    tile = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    peak = tl.alloc_ub(tile_rows, dtype=tl.float32)
    total = tl.alloc_ub(tile_rows, dtype=tl.float32)
    label = tl.alloc_ub(tile_rows, dtype=tl.int32)
    chosen = tl.alloc_ub(tile_rows, dtype=tl.float32)
    for t in range(tl.cdiv(count, tile_rows)):
        row = first + t * tile_rows
        n = min(tile_rows, count - t * tile_rows)
        with tl.copyin():
            tl.load(scores + row * cols, tile[:n, :], stride=cols)
            tl.load(classes + row, label[:n])
        with tl.compute():
            for r in range(n):
                place = tl.extract_scalar(label, r)
                score = tl.extract_scalar(tile, r, place)
                tl.insert_scalar(chosen, r, score)
            tl.reduce_max(peak[:n], tile[:n, :], axis=1)
            tl.sub(tile[:n, :], tile[:n, :], peak[:n, None])
            tl.exp(tile[:n, :], tile[:n, :])
            tl.reduce_sum(total[:n], tile[:n, :], axis=1)
            tl.log(total[:n], total[:n])
            tl.add(total[:n], total[:n], peak[:n])
            tl.sub(total[:n], total[:n], chosen[:n])
        with tl.copyout():
            tl.store(loss + row, total[:n])


def cross_entropy_host(
    scores: tl.input(tl.float32),
    classes: tl.input(tl.int32),
    loss: tl.output(tl.float32, (scores.shape[0],)),
):
    rows, cols = scores.shape
    tl.require(1 <= cols <= 8192, "a row must fit the unified buffer")
    tl.require(classes.numel() == rows, "one class a row")
    n_cores = max(1, min(tl.num_cores(), rows, tl.cdiv(rows * cols, 4096)))
    rows_per_core = tl.cdiv(rows, n_cores)
    # The tile twice and four numbers a row, some of them twice: 8 bytes a column, 28 bytes a row.
    width = tl.align_up(cols, 8)
    tile_rows = max(1, min(rows_per_core, (tl.ub_bytes() - 32768) // (8 * width + 28)))
    cross_entropy_kernel[n_cores](scores, classes, loss, rows, cols, rows_per_core, tile_rows)
