# SPDX-License-Identifier: Apache-2.0
"""How the tiles of a pooling operation are cut: host code."""

from __future__ import annotations

from npuforge.plan.special.pooling_kernel import parameters
from npuforge.plan.special.pooling_tiles import Pool

_ITEM = {"float32": 4, "float16": 2, "bfloat16": 2}
_SPARE = 16384  # temporaries of the library's functions, shares of averages, rounding
_MOST_LANES = 64  # an instruction's width
_LEAST_LANES = 16  # rows that a transposition takes at once


def host_lines(pool: Pool) -> list[str]:
    """Numbers for the launch, and the launch."""
    p = f"{pool.name}_"
    height, width = pool.height, pool.width
    item = _ITEM[pool.x.dtype]
    # Bytes for each column: of a lane, and of rows that a block needs beyond its lanes.
    taken = 2 * item
    if not pool.direct:
        taken += 4 + (4 if item != 4 and pool.taps > 1 else 0)
    step = 1 if pool.by_tap or pool.flat else height.stride
    each = step * taken + 4 * len(pool.row_folding.spare) + 4
    over = max(0, height.reach - step) * taken if not pool.by_tap and not pool.flat else 0
    over += height.reach * 4 * len(pool.row_folding.spare)
    out = 8  # the result twice, or once and twice in a type half as wide
    if pool.dense:
        each += 4 * len(pool.column_folding.spare)
    else:
        out += 4 * len(pool.column_folding.spare)
    margin = width.padding + width.overhang
    lines = [
        f"{p}width = {width.extent}",
        f"{p}out_width = {width.results}",
        f"{p}room = tl.ub_bytes() - {_SPARE}",
        f"# Whole rows where {_LEAST_LANES} lanes of them fit ({each} bytes a column of the input,",
        f"# {out} of the result), chunks of columns otherwise.",
        f"{p}whole = tl.align_up({p}width, 16) + {margin}",
        f"{p}fit = ({p}room - {over} * {p}whole)"
        f" // ({each} * {p}whole + {out} * tl.align_up({p}out_width, 16))",
        f"{p}most = min({_MOST_LANES}, tl.align_down({p}fit, 8))"
        f" if {p}fit >= {_LEAST_LANES} else {_LEAST_LANES}",
        f"{p}reach = {width.reach + margin + 16}",
        f"{p}part = ({p}room - {over + _LEAST_LANES * each} * {p}reach)"
        f" // {_LEAST_LANES * (each * width.stride + out) + over * width.stride}",
        f'tl.require({p}fit >= {_LEAST_LANES} or {p}part >= 8, "the window is too large")',
        f"{p}parts = 1 if {p}fit >= {_LEAST_LANES} else"
        f" tl.cdiv({p}out_width, max(8, tl.align_down({p}part, 8)))",
        f"{p}cols = {p}out_width if {p}parts == 1 else"
        f" tl.align_up(tl.cdiv({p}out_width, {p}parts), 8)",
        f"{p}chunks = tl.cdiv({p}out_width, {p}cols)",
        f"{p}span = min({p}width, ({p}cols - 1) * {width.stride} + {width.reach})",
    ]
    lines += _flat(pool, p) if pool.flat else _units(pool, p)
    lines += [
        f"{p}tiles = tl.cdiv({p}units, {p}group) * {p}chunks",
        f"{p}cores = max(1, min(tl.num_cores(), {p}tiles))",
        f"{p}per_core = tl.cdiv({p}tiles, {p}cores)",
    ]
    arguments = [pool.x.name, pool.y.name, *(p + name for name in parameters(pool))]
    return [*lines, f"{pool.name}[{p}cores]({', '.join(arguments)})"]


def _flat(pool: Pool, p: str) -> list[str]:
    return [
        f"{p}units = {pool.slices}",
        f"{p}group = max(1, min({p}most, tl.cdiv({p}units * {p}chunks, tl.num_cores())))",
        f"{p}lanes = tl.align_up({p}group, 8)",
    ]


def _units(pool: Pool, p: str) -> list[str]:
    height = pool.height
    lines = [
        f"{p}height = {height.extent}",
        f"{p}out_height = {height.results}",
    ]
    slices = str(pool.slices)
    if not pool.depth.trivial:
        lines += [f"{p}depth = {pool.depth.extent}", f"{p}out_depth = {pool.depth.results}"]
        slices = f"({pool.slices}) * {p}out_depth"
    lines += [
        f"{p}slices = {slices}",
        "# Blocks of rows small enough that every core has one.",
        f"{p}share = tl.cdiv({p}slices * {p}out_height * {p}chunks, tl.num_cores())",
        f"{p}blocks = tl.cdiv({p}out_height, min({p}most, max(8, {p}share)))",
        f"{p}rows_out = tl.cdiv({p}out_height, {p}blocks)",
        f"{p}blocks = tl.cdiv({p}out_height, {p}rows_out)",
        f"{p}units = {p}slices * {p}blocks",
    ]
    if pool.direct:
        lines += [f"{p}group = 1", f"{p}spaced = {p}rows_out"]
    else:
        whole = f"{p}rows_out"
        if not pool.by_tap:
            reach = f"({p}rows_out - 1) * {height.stride} + {height.reach}"
            whole = f"tl.cdiv({reach}, {height.stride})"
        lines += [
            "# Several small planes in one tile.",
            f"{p}apart = {whole}",
            f"{p}group = max(1, min({p}most // {p}apart, tl.cdiv({p}units, tl.num_cores())))",
            f"{p}group = {p}group if {p}blocks == 1 else 1",
            f"{p}spaced = {p}rows_out if {p}group == 1 else {p}apart",
        ]
    return [*lines, f"{p}lanes = tl.align_up({p}group * {p}spaced, 8)"]
