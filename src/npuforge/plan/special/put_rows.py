# SPDX-License-Identifier: Apache-2.0
"""`put_rows`: y = x, and y[a, index[k], :] is set to (or grows by) v[a, k, :].

Every core owns rows of y and looks for their indices among all of them, so that no two cores write
the same row and equal indices meet in order: the last one wins, and sums are added up on the chip.
"""

from __future__ import annotations

from npuforge.plan.launch import Launch
from npuforge.plan.plan import PlanError
from npuforge.plan.special import Job, writes
from npuforge.plan.special.indices import element_bytes, index_buffers, index_lines, text
from npuforge.plan.values import Tensor

_PICKED = 1024  # indices at a time: 40 KB with what is made of them
_SUMMED = {"float32": "float32", "int32": "int32", "float16": "float32", "bfloat16": "float32"}

_HEAD = (
    "x, index, v, y, outer, extent, inner, count, per_a, per_d, per_c, groups_d, groups_c,\n"
    "        owned, tile_rows, width, picked"
)
_GRID = [
    "core = tl.program_id(0)",
    "first_c = core % groups_c * per_c",
    "first_d = core // groups_c % groups_d * per_d",
    "first_a = core // (groups_c * groups_d) * per_a",
    "some_c = min(per_c, inner - first_c)",
    "some_d = min(per_d, extent - first_d)",
    "some_a = min(per_a, outer - first_a)",
]


@writes("put_rows")
def put_rows(job: Job) -> list[Launch]:
    x, index, v = job.args
    y, p, data = job.results[0], job.name, job.special.data
    outer, extent, inner, count = (data[key] for key in ("outer", "extent", "inner", "count"))
    size = element_bytes(x)
    lines = [
        *(
            f'tl.require({own} == {other}, "values have a row for each index")'
            for own, other in data["alike"]
        ),
        f"{p}_outer = {outer}",
        f"{p}_extent = {extent}",
        f"{p}_inner = {inner}",
        *(_sum_grid(p, size) if data["sums"] else _set_grid(p, size)),
        f"{p}_kernel[{p}_groups_a * {p}_groups_d * {p}_groups_c](",
        f"    {x.name}, {index.name}, {v.name}, {y.name},",
        f"    {p}_outer, {p}_extent, {p}_inner, {count}, {p}_per_a, {p}_per_d, {p}_per_c,",
        f"    {p}_groups_d, {p}_groups_c, {p}_owned, {p}_rows, {p}_width, {_PICKED},",
        ")",
    ]
    kernel = _sum_kernel(job) if data["sums"] else _set_kernel(job)
    return [Launch(kernel, lines)]


def _set_grid(p: str, size: int) -> list[str]:
    return [
        "# Cores share the rows, then the columns of long rows, then the outer axis.",
        f"{p}_groups_d = max(1, min({p}_extent, tl.num_cores()))",
        f"{p}_per_d = tl.cdiv({p}_extent, {p}_groups_d)",
        f"{p}_spare = tl.num_cores() // {p}_groups_d",
        f"{p}_groups_c = max(1, min({p}_spare, {p}_inner // {2048 // size}))",
        f"{p}_per_c = max(64, tl.align_up(tl.cdiv({p}_inner, {p}_groups_c), 64))",
        f"{p}_groups_a = max(1, min({p}_outer, {p}_spare // {p}_groups_c))",
        f"{p}_per_a = tl.cdiv({p}_outer, {p}_groups_a)",
        "# Whose row of v a row of y becomes is noted for so many rows at a time.",
        f"{p}_owned = max(8, min(2048, tl.align_up({p}_per_d, 8)))",
        f"{p}_width = min({p}_per_c, {8192 // size})",
        "# The tile of rows twice; 68 KB for indices and notes.",
        f"{p}_room = (tl.ub_bytes() - 69632) // (2 * {size} * {p}_width)",
        f"{p}_rows = min({p}_owned, max(8, tl.align_down({p}_room, 8)))",
    ]


def _sum_grid(p: str, size: int) -> list[str]:
    held, batch = (81920, 24576) if size == 4 else (49152, 16384)
    return [
        "# Pieces of 2 KB of a row are long enough for the memory; the more cores share columns,",
        "# the more evenly the indices fall.",
        f"{p}_groups_c = max(1, min(tl.num_cores(), {p}_inner // {2048 // size}))",
        f"{p}_per_c = max(64, tl.align_up(tl.cdiv({p}_inner, {p}_groups_c), 64))",
        f"{p}_groups_d = max(1, min({p}_extent, tl.num_cores() // {p}_groups_c))",
        f"{p}_per_d = tl.cdiv({p}_extent, {p}_groups_d)",
        f"{p}_spare = tl.num_cores() // ({p}_groups_c * {p}_groups_d)",
        f"{p}_groups_a = max(1, min({p}_outer, {p}_spare))",
        f"{p}_per_a = tl.cdiv({p}_outer, {p}_groups_a)",
        f"{p}_width = min({p}_per_c, 2048)",
        f"# {held // 1024} KB of sums, {batch // 1024} KB of rows of v twice.",
        f"{p}_owned = max(1, min({p}_per_d, {held // 4} // {p}_width))",
        f"{p}_rows = max(1, min(64, {batch // size} // {p}_width))",
    ]


def _find(index: Tensor, wraps: bool) -> list[str]:
    """Which of the loaded indices fall into the owned rows: the row `at`, the place `which`."""
    return [
        *index_lines(index, "n", "extent" if wraps else None),
        'tl.compare(inside[:n], places[:n], low, "ge")',
        'tl.compare(below[:n], places[:n], low + have, "lt")',
        "tl.mask_and(inside[:n], inside[:n], below[:n])",
        "tl.sub(places[:n], places[:n], low)",
        "tl.iota(signs[:n], c * picked, 1)",
        "tl.compact(at[:n], found[:1], places[:n], inside[:n])",
        "tl.compact(which[:n], found[:1], signs[:n], inside[:n])",
        "m = tl.extract_scalar(found, 0)",
    ]


_FIND_BUFFERS = [
    "inside = tl.alloc_mask(picked)",
    "below = tl.alloc_mask(picked)",
    "at = tl.alloc_ub(picked, dtype=tl.int32)",
    "which = tl.alloc_ub(picked, dtype=tl.int32)",
    "found = tl.alloc_ub(8, dtype=tl.int32)",
]
_FETCH_INDICES = [
    "n = min(picked, count - c * picked)",
    "with tl.copyin():",
    "    tl.load(index + c * picked, given[:n])",
]


def _set_kernel(job: Job) -> str:
    x, index, _ = job.args
    in_place = x.name == job.results[0].name
    return text(
        f"def {job.name}_kernel({_HEAD}):",
        [
            (4, _GRID),
            (4, [*index_buffers(index, "picked"), *_FIND_BUFFERS]),
            "    winner = tl.alloc_ub(owned, dtype=tl.int32)",
            "    order = tl.alloc_ub(tile_rows, dtype=tl.int32)",
            "    target = tl.alloc_ub(tile_rows, dtype=tl.int32)",
            "    source = tl.alloc_ub(tile_rows, dtype=tl.int32)",
            "    chosen = tl.alloc_mask(tile_rows)",
            f"    rows = tl.alloc_ub((tile_rows, width), dtype=tl.{x.dtype})",
            "    with tl.compute():",
            "        tl.iota(order, 0, 1)",
            "    for q in range(tl.cdiv(some_d, owned)):",
            "        low = first_d + q * owned",
            "        have = min(owned, some_d - q * owned)",
            "        with tl.compute():",
            "            tl.fill(winner, -1)",
            "        for c in range(tl.cdiv(count, picked)):",
            (12, _FETCH_INDICES),
            "            with tl.compute():",
            (16, _find(index, job.special.data["wraps"])),
            "                if m > 0:",
            "                    tl.scatter(winner, at[:m], which[:m])",
            "        for t in range(tl.cdiv(have, tile_rows)):",
            "            first = t * tile_rows",
            "            some = min(tile_rows, have - first)",
            "            with tl.compute():",
            '                tl.compare(chosen[:some], winner[first : first + some], 0, "ge")',
            "                tl.compact(target[:some], found[:1], order[:some], chosen[:some])",
            "                tl.compact(source[:some], found[:1], winner[first : first + some],"
            " chosen[:some])",
            "                changed = tl.extract_scalar(found, 0)",
            "            for a in range(some_a):",
            "                for piece in range(tl.cdiv(some_c, width)):",
            "                    col = first_c + piece * width",
            "                    w = min(width, some_c - piece * width)",
            "                    old = ((first_a + a) * extent + low + first) * inner + col",
            (20, _replace_rows() if in_place else _merge_rows()),
        ],
    )


def _merge_rows() -> list[str]:
    """Rows that stay come from x, stretch by stretch; the others from v."""
    return [
        "start = 0",
        "for e in range(changed):",
        "    with tl.compute():",
        "        row = tl.extract_scalar(target, e)",
        "        k = tl.extract_scalar(source, e)",
        "    with tl.copyin():",
        "        tl.load(x + old + start * inner, rows[start:row, :w], stride=inner)",
        "        tl.load(v + ((first_a + a) * count + k) * inner + col, rows[row, :w])",
        "    start = row + 1",
        "with tl.copyin():",
        "    tl.load(x + old + start * inner, rows[start:some, :w], stride=inner)",
        "with tl.copyout():",
        "    tl.store(y + old, rows[:some, :w], stride=inner)",
    ]


def _replace_rows() -> list[str]:
    """y is x: only the rows that change are written."""
    return [
        "for e in range(changed):",
        "    with tl.compute():",
        "        k = tl.extract_scalar(source, e)",
        "    with tl.copyin():",
        "        tl.load(v + ((first_a + a) * count + k) * inner + col, rows[e, :w])",
        "for e2 in range(changed):",
        "    with tl.compute():",
        "        row = tl.extract_scalar(target, e2)",
        "    with tl.copyout():",
        "        tl.store(y + old + row * inner, rows[e2, :w])",
    ]


def _sum_kernel(job: Job) -> str:
    x, index, _ = job.args
    wide = _SUMMED.get(x.dtype)
    if wide is None:
        raise PlanError(f"sums of {x.dtype} are not planned")
    same = wide == x.dtype
    total, part = ("rows", "parts") if same else ("sums", "wide")
    return text(
        f"def {job.name}_kernel({_HEAD}):",
        [
            (4, _GRID),
            (4, [*index_buffers(index, "picked"), *_FIND_BUFFERS]),
            f"    rows = tl.alloc_ub((owned, width), dtype=tl.{x.dtype})",
            f"    parts = tl.alloc_ub((tile_rows, width), dtype=tl.{x.dtype})",
            *([] if same else [f"    sums = tl.alloc_ub((owned, width), dtype=tl.{wide})"]),
            *([] if same else [f"    wide = tl.alloc_ub((tile_rows, width), dtype=tl.{wide})"]),
            "    for a in range(some_a):",
            "        for q in range(tl.cdiv(some_d, owned)):",
            "            low = first_d + q * owned",
            "            have = min(owned, some_d - q * owned)",
            "            for piece in range(tl.cdiv(some_c, width)):",
            "                col = first_c + piece * width",
            "                w = min(width, some_c - piece * width)",
            "                old = ((first_a + a) * extent + low) * inner + col",
            "                with tl.copyin():",
            "                    tl.load(x + old, rows[:have, :w], stride=inner)",
            *(
                []
                if same
                else [
                    "                with tl.compute():",
                    "                    tl.cast(sums[:have, :w], rows[:have, :w])",
                ]
            ),
            "                for c in range(tl.cdiv(count, picked)):",
            (20, _FETCH_INDICES),
            "                    with tl.compute():",
            (24, _find(index, job.special.data["wraps"])),
            "                    for b in range(tl.cdiv(m, tile_rows)):",
            "                        first = b * tile_rows",
            "                        some = min(tile_rows, m - first)",
            "                        for e in range(some):",
            "                            with tl.compute():",
            "                                k = tl.extract_scalar(which, first + e)",
            "                            with tl.copyin():",
            "                                new = ((first_a + a) * count + k) * inner + col",
            "                                tl.load(v + new, parts[e, :w])",
            "                        with tl.compute():",
            *([] if same else [" " * 28 + "tl.cast(wide[:some, :w], parts[:some, :w])"]),
            "                            for e2 in range(some):",
            "                                row = tl.extract_scalar(at, first + e2)",
            f"                                tl.add({total}[row, :w], {total}[row, :w],"
            f" {part}[e2, :w])",
            *(
                []
                if same
                else [
                    "                with tl.compute():",
                    '                    tl.cast(rows[:have, :w], sums[:have, :w], round="rint")',
                ]
            ),
            "                with tl.copyout():",
            "                    tl.store(y + old, rows[:have, :w], stride=inner)",
        ],
    )
