# SPDX-License-Identifier: Apache-2.0
"""`join`: rows of y are made of pieces of rows of other tensors, or of a constant, side by side.

Concatenation, padding, rolling and overwriting a slice are all of this kind. A part is a run of
elements in each row of its tensor; cores share the rows, and the columns where rows are few.
"""

from __future__ import annotations

import math

from npuforge.plan.launch import Launch
from npuforge.plan.plan import PlanError
from npuforge.plan.special import Job, writes
from npuforge.plan.special.indices import element_bytes, text
from npuforge.plan.special.part import Part
from npuforge.plan.values import Tensor
from npuforge.spec.size import Size

_AT_ONCE = 8  # parts of one launch: each has a tile of its own
_ROOM = 160 * 1024
_FILLED = ("float16", "bfloat16", "float32", "int16", "int32")


@writes("join")
def join(job: Job) -> list[Launch]:
    parts: list[Part] = job.special.data["parts"]
    launches: list[Launch] = []
    start = Size.of(0)
    for first in range(0, len(parts), _AT_ONCE):
        some = parts[first : first + _AT_ONCE]
        number = "" if first == 0 else f"_{first}"
        launches.append(_launch(job, f"{job.name}{number}", some, start))
        for part in some:
            start = start + part.run
    return launches


def _launch(job: Job, name: str, parts: list[Part], start: Size) -> Launch:
    y, data = job.results[0], job.special.data
    outer: Size = data["outer"]
    total: Size = data["total"]
    if y.dtype not in _FILLED and any(part.source is None for part in parts):
        raise PlanError(f"a tensor of {y.dtype} is not filled with a number")
    size = element_bytes(y)
    room = _ROOM // (2 * size * len(parts)) // 64 * 64
    widest = f"{name}_run0"
    for place in range(1, len(parts)):
        widest = f"max({widest}, {name}_run{place})"
    arguments = [
        f"{f'{_tensor(job, part).name}, ' if part.source is not None else ''}{name}_run{place}, "
        f"{part.offset}, {part.pitch},"
        for place, part in enumerate(parts)
    ]
    host = [
        f"{name}_outer = {outer}",
        *(f"{name}_run{place} = {part.run}" for place, part in enumerate(parts)),
        "# Cores share the rows, then the columns.",
        f"{name}_groups_r = max(1, min({name}_outer, tl.num_cores()))",
        f"{name}_per_r = tl.cdiv({name}_outer, {name}_groups_r)",
        f"{name}_widest = {widest}",
        f"{name}_spare = min(tl.num_cores() // {name}_groups_r, {name}_widest // {512 // size})",
        f"{name}_groups_c = max(1, {name}_spare)",
        f"{name}_each = tl.align_up(tl.cdiv({name}_widest, {name}_groups_c), 64)",
        f"# {len(parts)} tiles, each twice.",
        f"{name}_width = max(64, min({name}_each, {room}))",
        f"{name}_rows = max(1, min({name}_per_r, {room} // {name}_width))",
        f"{name}_kernel[{name}_groups_r * {name}_groups_c](",
        f"    {y.name}, {name}_outer, {total}, {start}, {name}_per_r, {name}_groups_c,",
        f"    {name}_rows, {name}_width,",
        *(f"    {line}" for line in arguments),
        ")",
    ]
    return Launch(_kernel(job, name, parts), host)


def _tensor(job: Job, part: Part) -> Tensor:
    assert part.source is not None
    return job.args[part.source]


def _kernel(job: Job, name: str, parts: list[Part]) -> str:
    dtype = job.results[0].dtype
    names = ", ".join(
        f"{f'x{place}, ' if part.source is not None else ''}run{place}, offset{place}, pitch{place}"
        for place, part in enumerate(parts)
    )
    fills = [
        f"tl.fill(tile{place}, {_number(part.fill, dtype)})"
        for place, part in enumerate(parts)
        if part.source is None
    ]
    lines: list[str] = []
    for place, part in enumerate(parts):
        lines += [
            f"per_c{place} = tl.align_up(tl.cdiv(run{place}, groups_c), 64)",
            f"first_c{place} = group_c * per_c{place}",
            f"some_c{place} = min(per_c{place}, run{place} - first_c{place})",
            f"for t{place} in range(tl.cdiv(some_r, tile_rows)):",
            f"    row{place} = first_r + t{place} * tile_rows",
            f"    n{place} = min(tile_rows, some_r - t{place} * tile_rows)",
            f"    for c{place} in range(tl.cdiv(some_c{place}, width)):",
            f"        col{place} = first_c{place} + c{place} * width",
            f"        w{place} = min(width, some_c{place} - c{place} * width)",
            f"        to{place} = row{place} * total + start + col{place}",
        ]
        view = f"tile{place}[:n{place}, :w{place}]"
        if part.source is not None:
            source = f"x{place} + offset{place} + row{place} * pitch{place} + col{place}"
            lines += [
                "        with tl.copyin():",
                f"            tl.load({source}, {view}, stride=pitch{place})",
            ]
        lines += [
            "        with tl.copyout():",
            f"            tl.store(y + to{place}, {view}, stride=total)",
            f"start = start + run{place}",
        ]
    return text(
        f"def {name}_kernel(y, outer, total, begin, per_r, groups_c, tile_rows, width,\n"
        f"        {names}):",
        [
            "    group_c = tl.program_id(0) % groups_c",
            "    first_r = tl.program_id(0) // groups_c * per_r",
            "    some_r = min(per_r, outer - first_r)",
            *(
                f"    tile{place} = tl.alloc_ub((tile_rows, width), dtype=tl.{dtype})"
                for place in range(len(parts))
            ),
            *(["    with tl.compute():"] if fills else []),
            (8, fills),
            "    start = begin",
            (4, lines),
        ],
    )


def _number(value: float | int | bool, dtype: str) -> str:
    if dtype in ("int16", "int32"):
        return str(int(value))
    if math.isnan(value):
        return "tl.nan"
    if math.isinf(value):
        return "tl.inf" if value > 0 else "-tl.inf"
    return repr(float(value))
