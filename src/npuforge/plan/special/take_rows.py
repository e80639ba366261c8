# SPDX-License-Identifier: Apache-2.0
"""`take_rows`: y[a, k, :] = x[a, index[k], :] (embedding, index_select, indexing by one tensor).

A row is one transfer. Indices are loaded many at a time; rows gather in a tile that is stored as a
whole, so that stores are long although loads are as short as the rows.
"""

from __future__ import annotations

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.special.indices import element_bytes, index_buffers, index_lines, text

_CHUNK = 1024  # indices at a time: 16 KB
_ROW_BYTES = 32768  # longer rows move in pieces


@writes("take_rows")
def take_rows(job: Job) -> list[Launch]:
    x, index = job.args
    data, p = job.special.data, job.name
    outer, extent, inner, count = (data[key] for key in ("outer", "extent", "inner", "count"))
    size = element_bytes(x)
    kernel = text(
        f"def {p}_kernel(x, index, y, outer, extent, inner, count,\n"
        "        per_a, per_k, per_c, groups_k, groups_c, chunk, tile_rows, width):",
        [
            "    core = tl.program_id(0)",
            "    first_c = core % groups_c * per_c",
            "    first_k = core // groups_c % groups_k * per_k",
            "    first_a = core // (groups_c * groups_k) * per_a",
            "    some_c = min(per_c, inner - first_c)",
            "    some_k = min(per_k, count - first_k)",
            "    some_a = min(per_a, outer - first_a)",
            (4, index_buffers(index, "chunk")),
            f"    rows = tl.alloc_ub((tile_rows, width), dtype=tl.{x.dtype})",
            "    for c in range(tl.cdiv(some_k, chunk)):",
            "        k = first_k + c * chunk",
            "        have = min(chunk, some_k - c * chunk)",
            "        with tl.copyin():",
            "            tl.load(index + k, given[:have])",
            "        with tl.compute():",
            (12, index_lines(index, "have", "extent" if data["wraps"] else None)),
            "        for a in range(some_a):",
            "            for piece in range(tl.cdiv(some_c, width)):",
            "                col = first_c + piece * width",
            "                w = min(width, some_c - piece * width)",
            "                for t in range(tl.cdiv(have, tile_rows)):",
            "                    n = min(tile_rows, have - t * tile_rows)",
            "                    for r in range(n):",
            "                        with tl.compute():",
            "                            place = tl.extract_scalar(places, t * tile_rows + r)",
            "                        with tl.copyin():",
            "                            from_row = (first_a + a) * extent + place",
            "                            tl.load(x + from_row * inner + col, rows[r, :w])",
            "                    with tl.copyout():",
            "                        to_row = (first_a + a) * count + k + t * tile_rows",
            "                        to = to_row * inner + col",
            "                        tl.store(y + to, rows[:n, :w], stride=inner)",
        ],
    )
    y = job.results[0]
    host = [
        f"{p}_outer = {outer}",
        f"{p}_count = {count}",
        f"{p}_inner = {inner}",
        "# Cores share the outer axis first, then the indices, then the columns of long rows.",
        f"{p}_groups_a = max(1, min({p}_outer, tl.num_cores()))",
        f"{p}_per_a = tl.cdiv({p}_outer, {p}_groups_a)",
        f"{p}_groups_k = max(1, min({p}_count, tl.num_cores() // {p}_groups_a))",
        f"{p}_per_k = tl.cdiv({p}_count, {p}_groups_k)",
        f"{p}_spare = tl.num_cores() // ({p}_groups_a * {p}_groups_k)",
        f"{p}_groups_c = max(1, min({p}_spare, {p}_inner // {2048 // size}))",
        f"{p}_per_c = max(64, tl.align_up(tl.cdiv({p}_inner, {p}_groups_c), 64))",
        f"{p}_chunk = max(1, min({p}_per_k, {_CHUNK}))",
        f"{p}_width = min({p}_per_c, {_ROW_BYTES // size})",
        "# The tile twice, the indices in up to five forms of at most 8 bytes.",
        f"{p}_room = (tl.ub_bytes() - 8192 - 40 * {_CHUNK}) // (2 * {size} * {p}_width)",
        f"{p}_rows = max(1, min({p}_chunk, {p}_room))",
        f"{p}_kernel[{p}_groups_a * {p}_groups_k * {p}_groups_c](",
        f"    {x.name}, {index.name}, {y.name}, {p}_outer, {extent}, {p}_inner, {p}_count,",
        f"    {p}_per_a, {p}_per_k, {p}_per_c, {p}_groups_k, {p}_groups_c,",
        f"    {p}_chunk, {p}_rows, {p}_width,",
        ")",
    ]
    return [Launch(kernel, host)]
