# SPDX-License-Identifier: Apache-2.0
"""`sort_rows`: the first `kept` elements of every row in order, with the places they came from.

Rows are of float32, or of int32, which are sorted by their lower halves first and then by their
upper ones: a half is a float32 that tells all of them apart, and what is equal keeps its order.
"""

from __future__ import annotations

from collections.abc import Sequence

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.special.indices import text
from npuforge.spec.size import Size

# A row twice (8 bytes), sorted records and their copy (16), results and their forms in memory (40).
_LONGEST = 2816
_LONGEST_WHOLE = 2048  # and halves of numbers, in two orders (20)

_BY_HALVES = [
    "tl.shift_right(upper, row, 16)",
    "tl.shift_left(lower, upper, 16)",
    "tl.sub(lower, row, lower)",
    "tl.cast(key, lower)",
    "tl.sort(sorted_key, by_lower, key, descending={descending})",
    "tl.cast(key, upper)",
    "tl.gather(sorted_key, key, by_lower)",
    "tl.sort(key, by_upper, sorted_key, descending={descending})",
    "tl.gather(order, by_lower, by_upper)",
    "tl.gather(best, row, order)",
    "tl.cast(where, order)",
]
_HALVES = ["upper", "lower", "by_lower", "by_upper", "order"]


@writes("sort_rows")
def sort_rows(job: Job) -> list[Launch]:
    x = job.args[0]
    values, places = job.results
    p, data = job.name, job.special.data
    rows: Size = data["rows"]
    extent: Size = data["extent"]
    kept: Size = data["kept"]
    whole = x.dtype == "int32"
    longest = _LONGEST_WHOLE if whole else _LONGEST
    kernel = _of_halves(job) if whole else _of_floats(job)
    host = [
        f'tl.require(1 <= {extent} <= {longest}, "rows fit the unified buffer when sorted")',
        f'tl.require(1 <= {kept} <= {extent}, "no more are kept than there are")',
        f"{p}_rows = {rows}",
        f"{p}_cores = max(1, min(tl.num_cores(), {p}_rows))",
        f"{p}_kernel[{p}_cores](",
        f"    {x.name}, {values.name}, {places.name}, {p}_rows, {extent}, {kept},",
        f"    tl.cdiv({p}_rows, {p}_cores),",
        ")",
    ]
    return [Launch(kernel, host)]


def _of_floats(job: Job) -> str:
    data = job.special.data
    whole = data["kept"] == data["extent"]
    operation = "sort" if whole else "topk"
    many = "extent" if whole else "kept"
    buffers = [("row", "extent", "float32"), ("best", many, "float32")]
    buffers += [("found", many, "int32"), ("where", many, "int64")]
    body = [
        f"tl.{operation}(best, found, row, descending={data['descending']})",
        "tl.cast(where, found)",
    ]
    return _kernel(job, buffers, body, many, "")


def _of_halves(job: Job) -> str:
    buffers = [(name, "extent", "int32") for name in ("row", *_HALVES, "best")]
    buffers += [(name, "extent", "float32") for name in ("key", "sorted_key")]
    buffers += [("where", "extent", "int64")]
    body = [line.format(descending=job.special.data["descending"]) for line in _BY_HALVES]
    return _kernel(job, buffers, body, "kept", "[:kept]")


def _kernel(
    job: Job,
    buffers: Sequence[tuple[str, str, str]],
    body: Sequence[str],
    many: str,
    view: str,
) -> str:
    return text(
        f"def {job.name}_kernel(x, values, places, rows, extent, kept, per_core):",
        [
            "    first = tl.program_id(0) * per_core",
            *(f"    {name} = tl.alloc_ub({size}, dtype=tl.{t})" for name, size, t in buffers),
            "    for t in range(min(per_core, rows - first)):",
            "        with tl.copyin():",
            "            tl.load(x + (first + t) * extent, row)",
            "        with tl.compute():",
            (12, body),
            "        with tl.copyout():",
            f"            tl.store(values + (first + t) * {many}, best{view})",
            f"            tl.store(places + (first + t) * {many}, where{view})",
        ],
    )
