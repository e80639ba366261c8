# SPDX-License-Identifier: Apache-2.0
"""`turn`: y[a, n, m] = x[a, m, n], so that rows become what was an axis further out.

A tile is loaded row by row, transposed on the chip and stored row by row; both sides so move rows
as long as the tile is wide.
"""

from __future__ import annotations

from npuforge.plan.launch import Launch
from npuforge.plan.plan import PlanError
from npuforge.plan.special import Job, writes
from npuforge.plan.special.indices import text
from npuforge.spec.size import Size

_TURNED = {
    "float32": "float32",
    "float16": "float16",
    "int32": "int32",
    "int16": "int16",
    "bfloat16": "float32",
    "int8": "float16",
    "uint8": "float16",
    "bool": "float16",
}
_TILE = 8192  # elements of a tile; its forms take 16 bytes each
_SIDE = 96


@writes("turn")
def turn(job: Job) -> list[Launch]:
    x, y = job.args[0], job.results[0]
    p, data = job.name, job.special.data
    outer: Size = data["outer"]
    rows: Size = data["rows"]
    cols: Size = data["cols"]
    if x.dtype not in _TURNED:
        raise PlanError(f"tensors of {x.dtype} are not transposed")
    host = [
        f"{p}_outer = {outer}",
        f"{p}_rows = {rows}",
        f"{p}_cols = {cols}",
        "# About square tiles; a short side leaves room for a long one.",
        f"{p}_wide = max(1, min({p}_cols, max({_SIDE}, {_TILE} // max(16, {p}_rows))))",
        f"{p}_tile_c = min({p}_wide, 1024)",
        f"{p}_tile_r = max(1, min({p}_rows, {_TILE} // tl.align_up({p}_tile_c, 16), 1024))",
        f"{p}_over = tl.cdiv({p}_cols, {p}_tile_c)",
        f"{p}_down = tl.cdiv({p}_rows, {p}_tile_r)",
        f"{p}_tasks = {p}_outer * {p}_down * {p}_over",
        f"{p}_cores = max(1, min(tl.num_cores(), {p}_tasks))",
        f"{p}_kernel[{p}_cores](",
        f"    {x.name}, {y.name}, {p}_rows, {p}_cols, {p}_tile_r, {p}_tile_c,",
        f"    {p}_down, {p}_over, {p}_tasks,",
        ")",
    ]
    return [Launch(_kernel(job), host)]


def _kernel(job: Job) -> str:
    dtype = job.args[0].dtype
    held = _TURNED[dtype]
    same = held == dtype
    out = "turned" if same else "out"
    buffers = [f"turned = tl.alloc_ub((tile_c, tile_r), dtype=tl.{held})"]
    steps = ["tl.transpose(turned[:c, :r], tile[:r, :c])"]
    if not same:
        buffers += [
            f"wide = tl.alloc_ub((tile_r, tile_c), dtype=tl.{held})",
            f"out = tl.alloc_ub((tile_c, tile_r), dtype=tl.{dtype})",
        ]
        steps = [
            "tl.cast(wide[:r, :c], tile[:r, :c])",
            "tl.transpose(turned[:c, :r], wide[:r, :c])",
        ]
        if dtype == "bool":
            # Zero and one stay what they are as bytes.
            buffers.append("bytes_ = tl.alloc_ub((tile_c, tile_r), dtype=tl.uint8)")
            steps.append('tl.cast(bytes_[:c, :r], turned[:c, :r], round="rint")')
            steps.append("tl.cast(out[:c, :r], bytes_[:c, :r])")
        else:
            steps.append('tl.cast(out[:c, :r], turned[:c, :r], round="rint")')
    return text(
        f"def {job.name}_kernel(x, y, rows, cols, tile_r, tile_c, down, over, tasks):",
        [
            "    per_core = tl.cdiv(tasks, tl.num_programs(0))",
            "    first = tl.program_id(0) * per_core",
            f"    tile = tl.alloc_ub((tile_r, tile_c), dtype=tl.{dtype})",
            (4, buffers),
            "    for t in range(min(per_core, tasks - first)):",
            "        task = first + t",
            "        row = task // over % down * tile_r",
            "        col = task % over * tile_c",
            "        start = task // (over * down) * rows * cols",
            "        r = min(tile_r, rows - row)",
            "        c = min(tile_c, cols - col)",
            "        with tl.copyin():",
            "            tl.load(x + start + row * cols + col, tile[:r, :c], stride=cols)",
            "        with tl.compute():",
            (12, steps),
            "        with tl.copyout():",
            f"            tl.store(y + start + col * rows + row, {out}[:c, :r], stride=rows)",
        ],
    )
