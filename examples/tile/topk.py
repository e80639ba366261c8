# SPDX-License-Identifier: Apache-2.0
"""The k largest elements of every row, in order, with their places."""

import tile.language as tl


@ascend_kernel
def topk_kernel(x, values, places, rows, cols, k, rows_per_core):
    first = tl.program_id(0) * rows_per_core
    count = min(rows_per_core, rows - first)
    row = tl.alloc_ub(cols, dtype=tl.float32)
    best = tl.alloc_ub(k, dtype=tl.float32)
    found = tl.alloc_ub(k, dtype=tl.int32)
    for t in range(count):
        with tl.copyin():
            tl.load(x + (first + t) * cols, row)
        with tl.compute():
            tl.topk(best, found, row)
        with tl.copyout():
            tl.store(values + (first + t) * k, best)
            tl.store(places + (first + t) * k, found)


def topk_host(
    x: tl.input(tl.float32),
    k: tl.attr(int),
    values: tl.output(tl.float32, (x.shape[0], k)),
    places: tl.output(tl.int32, (x.shape[0], k)),
):
    rows, cols = x.shape
    tl.require(1 <= k <= cols, "k is at most the number of columns")
    tl.require(cols <= 4096, "a row and its records must fit the unified buffer")
    # A row twice, its sorted records twice (8 bytes an element), and the results twice.
    n_cores = max(1, min(tl.num_cores(), rows))
    topk_kernel[n_cores](x, values, places, rows, cols, k, tl.cdiv(rows, n_cores))
