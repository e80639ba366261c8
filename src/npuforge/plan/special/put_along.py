# SPDX-License-Identifier: Apache-2.0
"""`put_along`: y = x, and y[r, index[r, k]] is set to, or combined with, v[r, k] (scatter).

A piece of a row of y lies in the unified buffer; the indices that fall into it are found first and
then written one by one, in order, by the scalar unit: the chip has no instruction that writes to
computed places. Pieces of rows are dealt out to the cores, which so never write the same element.
"""

from __future__ import annotations

from npuforge.plan.launch import Launch
from npuforge.plan.plan import PlanError
from npuforge.plan.special import Job, writes
from npuforge.plan.special.indices import (
    Pairs,
    index_buffers,
    index_lines,
    row_names,
    row_number,
    text,
)

_PICKED = 1024  # indices at a time: about 60 KB with what is made of them
_PIECE = 12288  # elements of a row: 8 bytes each
_MOVED = ("float16", "bfloat16", "float32", "int16", "int32")
_COMBINED = {"float32": "float32", "int32": "int32", "float16": "float32", "bfloat16": "float32"}
_BYTES = ("int8", "uint8", "bool")
OPERATIONS = {
    "set": "scatter",
    "add": "scatter_add",
    "mul": "scatter_mul",
    "max": "scatter_max",
    "min": "scatter_min",
}


def _held(dtype: str, combine: str) -> str:
    """The type elements have while they are written to."""
    if combine != "set":
        if dtype not in _COMBINED:
            raise PlanError(f"{dtype} is not combined element by element")
        return _COMBINED[dtype]
    if dtype in _BYTES:
        return "float16"
    if dtype not in _MOVED:
        raise PlanError(f"elements of type {dtype} are not scattered")
    return dtype


@writes("put_along")
def put_along(job: Job) -> list[Launch]:
    x, index, v = job.args
    y, p, data = job.results[0], job.name, job.special.data
    rows = data["rows"]
    limits = [own for _, own in data["axes"]]
    extent, count, v_count = (tensor.shape[-1] for tensor in (x, index, v))
    extents = {**row_names("i", data["axes"]), **row_names("v", data["v_axes"])}
    bounds = {f"most{axis}": limit for axis, limit in enumerate(limits)}
    more = "".join(f", {size}" for size in (*extents.values(), *bounds.values()))
    lines = [
        f"{p}_rows = {rows}",
        f"{p}_extent = {extent}",
        "# Pieces of rows, so many that all cores have about the same number.",
        f"{p}_wanted = min(tl.cdiv(3 * tl.num_cores(), max({p}_rows, 1)), {p}_extent // 256)",
        f"{p}_least = max(1, {p}_wanted, tl.cdiv({p}_extent, {_PIECE}))",
        f"{p}_piece = max(16, tl.align_up(tl.cdiv({p}_extent, {p}_least), 16))",
        f"{p}_pieces = tl.cdiv({p}_extent, {p}_piece)",
        f"{p}_tasks = {p}_rows * {p}_pieces",
        f"{p}_cores = max(1, min(tl.num_cores(), {p}_tasks))",
        f"{p}_kernel[{p}_cores](",
        f"    {x.name}, {index.name}, {v.name}, {y.name}, {p}_extent, {count}, {v_count},",
        f"    {p}_tasks, {p}_pieces, {p}_piece, {_PICKED}{more},",
        ")",
    ]
    return [Launch(_kernel(job, [*extents, *bounds]), lines)]


def _kernel(job: Job, names: list[str]) -> str:
    x, index, _ = job.args
    data = job.special.data
    combine: str = data["combine"]
    held = _held(x.dtype, combine)
    same = held == x.dtype
    source = "values" if same else "wide"
    more = "".join(f", {name}" for name in names)
    coordinates = _coordinates(data["axes"])
    return text(
        f"def {job.name}_kernel(x, index, v, y, extent, count, v_count, tasks, pieces, piece,\n"
        f"        picked{more}):",
        [
            "    per_core = tl.cdiv(tasks, tl.num_programs(0))",
            "    first = tl.program_id(0) * per_core",
            (4, index_buffers(index, "picked")),
            "    inside = tl.alloc_mask(picked)",
            "    below = tl.alloc_mask(picked)",
            "    at = tl.alloc_ub(picked, dtype=tl.int32)",
            "    which = tl.alloc_ub(picked, dtype=tl.int32)",
            "    found = tl.alloc_ub(8, dtype=tl.int32)",
            f"    values = tl.alloc_ub(picked, dtype=tl.{x.dtype})",
            *([] if same else [f"    wide = tl.alloc_ub(picked, dtype=tl.{held})"]),
            f"    chosen = tl.alloc_ub(picked, dtype=tl.{held})",
            f"    line = tl.alloc_ub(piece, dtype=tl.{x.dtype}, buffers=1)",
            f"    result = tl.alloc_ub(piece, dtype=tl.{held})",
            *(["    bits = tl.alloc_mask(piece)"] if x.dtype == "bool" else []),
            *([] if same else [f"    out = tl.alloc_ub(piece, dtype=tl.{x.dtype}, buffers=1)"]),
            "    for t in range(min(per_core, tasks - first)):",
            "        row = (first + t) // pieces",
            "        low = (first + t) % pieces * piece",
            "        have = min(piece, extent - low)",
            "        with tl.copyin():",
            "            tl.load(x + row * extent + low, line[:have])",
            "        with tl.compute():",
            f"            tl.{'copy' if same else 'cast'}(result[:have], line[:have])",
            (8, coordinates),
            f"        index_row = {row_number('i', data['axes'], 'row')}",
            f"        v_row = {row_number('v', data['v_axes'], 'row')}",
            "        for c in range(tl.cdiv(live, picked)):",
            "            n = min(picked, live - c * picked)",
            "            with tl.copyin():",
            "                tl.load(index + index_row * count + c * picked, given[:n])",
            "                tl.load(v + v_row * v_count + c * picked, values[:n])",
            "            with tl.compute():",
            (16, index_lines(index, "n", None)),
            '                tl.compare(inside[:n], places[:n], low, "ge")',
            '                tl.compare(below[:n], places[:n], low + have, "lt")',
            "                tl.mask_and(inside[:n], inside[:n], below[:n])",
            "                tl.sub(places[:n], places[:n], low)",
            "                tl.iota(signs[:n], 0, 1)",
            "                tl.compact(at[:n], found[:1], places[:n], inside[:n])",
            "                tl.compact(which[:n], found[:1], signs[:n], inside[:n])",
            *([] if same else [" " * 16 + "tl.cast(wide[:n], values[:n])"]),
            "                m = tl.extract_scalar(found, 0)",
            "                if m > 0:",
            f"                    tl.gather(chosen[:m], {source}[:n], which[:m])",
            f"                    tl.{OPERATIONS[combine]}(result[:have], at[:m], chosen[:m])",
            *_finish(x.dtype, same=same),
            "        with tl.copyout():",
            f"            tl.store(y + row * extent + low, {'result' if same else 'out'}[:have])",
        ],
    )


def _coordinates(axes: Pairs) -> list[str]:
    """`live`: the number of indices of this row, none where the index has no such row."""
    tests = []
    for axis in range(len(axes)):
        behind = " * ".join(f"i_from{later}" for later in range(axis + 1, len(axes)))
        place = f"row // ({behind})" if behind else "row"
        tests.append(f"{place} % i_from{axis} < most{axis}" if axis else f"{place} < most0")
    if not tests:  # one row: the index has it
        return ["live = count"]
    return [f"live = count if {' and '.join(tests)} else 0"]


def _finish(dtype: str, *, same: bool) -> list[str]:
    if same:
        return []
    if dtype == "bool":
        return [
            "        with tl.compute():",
            '            tl.compare(bits[:have], result[:have], 0.0, "ne")',
            "            tl.bool_from_mask(out[:have], bits[:have])",
        ]
    return [
        "        with tl.compute():",
        '            tl.cast(out[:have], result[:have], round="rint")',
    ]
