# SPDX-License-Identifier: Apache-2.0
"""`sort_rows`: the first `kept` elements of every row in order, with the places they came from."""

from __future__ import annotations

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.special.indices import text
from npuforge.spec.size import Size

# A row twice (8 bytes), sorted records and their copy (16), results and their forms in memory (40).
_LONGEST = 2816


@writes("sort_rows")
def sort_rows(job: Job) -> list[Launch]:
    x = job.args[0]
    values, places = job.results
    p, data = job.name, job.special.data
    rows: Size = data["rows"]
    extent: Size = data["extent"]
    kept: Size = data["kept"]
    whole = kept == extent
    operation = "sort" if whole else "topk"
    many = "extent" if whole else "kept"
    kernel = text(
        f"def {p}_kernel(x, values, places, rows, extent, kept, per_core):",
        [
            "    first = tl.program_id(0) * per_core",
            "    row = tl.alloc_ub(extent, dtype=tl.float32)",
            f"    best = tl.alloc_ub({many}, dtype=tl.float32)",
            f"    found = tl.alloc_ub({many}, dtype=tl.int32)",
            f"    where = tl.alloc_ub({many}, dtype=tl.int64)",
            "    for t in range(min(per_core, rows - first)):",
            "        with tl.copyin():",
            "            tl.load(x + (first + t) * extent, row)",
            "        with tl.compute():",
            f"            tl.{operation}(best, found, row, descending={data['descending']})",
            "            tl.cast(where, found)",
            "        with tl.copyout():",
            f"            tl.store(values + (first + t) * {many}, best)",
            f"            tl.store(places + (first + t) * {many}, where)",
        ],
    )
    host = [
        f'tl.require(1 <= {extent} <= {_LONGEST}, "rows fit the unified buffer when sorted")',
        f'tl.require(1 <= {kept} <= {extent}, "no more are kept than there are")',
        f"{p}_rows = {rows}",
        f"{p}_cores = max(1, min(tl.num_cores(), {p}_rows))",
        f"{p}_kernel[{p}_cores](",
        f"    {x.name}, {values.name}, {places.name}, {p}_rows, {extent}, {kept},",
        f"    tl.cdiv({p}_rows, {p}_cores),",
        ")",
    ]
    return [Launch(kernel, host)]
