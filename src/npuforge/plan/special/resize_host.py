# SPDX-License-Identifier: Apache-2.0
"""How the tiles of a resize operation are cut: host code."""

from __future__ import annotations

from npuforge.plan.special.resize_axis import Axis, Resize
from npuforge.plan.special.resize_kernel import parameters

_ITEM = {"float32": 4, "float16": 2, "bfloat16": 2}
_SPARE = 20480  # temporaries of the library's functions, rounding
_MOST_LANES = 128
_LEAST_LANES = 8  # fewer columns make rows of broken cache lines


def host_lines(resize: Resize) -> list[str]:
    """Numbers for the launch, and the launch."""
    p = f"{resize.name}_"
    height, width = resize.height, resize.width
    lines: list[str] = []
    for axis in (resize.depth, height, width):
        if not axis.plain or axis.name == "w":
            lines += _axis_lines(axis, p)
    # Bytes of an element of the source rows; of the rows worked on; of columns of the result.
    item = _ITEM[resize.x.dtype]
    loaded = 2 * item + (4 if resize.widens else 0)
    loaded += 4 if resize.widens and item != 4 and not resize.depth.plain else 0
    taps_h, taps_w = _taps(height, p), _taps(width, p)
    rows = "4.0" if resize.flat else f"({12 + 8 * (height.taps != 1)}.0 + 0.5 * float({taps_h}))"
    cols = f"({14 + 4 * (width.taps != 1)}.0 + 0.5 * float({taps_w}))"
    down = "1.0" if resize.flat else f"{p}scale_h"
    reach = "0" if resize.flat else f"{taps_h} + 4"
    lines += [
        f"{p}room = float(tl.ub_bytes() - {_SPARE})",
        f"# Whole rows where {_LEAST_LANES} lanes of them fit, chunks of columns otherwise.",
        f"{p}whole = float(tl.align_up({p}source_w, 16))",
        f"{p}work = {rows}",
        f"{p}each = {loaded}.0 * {down} + {p}work",
        f"{p}over = {loaded}.0 * float({reach})",
        f"{p}lane = {p}whole * {p}each + float(tl.align_up({p}results_w, 16)) * {cols}",
        f"{p}fit = int(({p}room - {p}whole * {p}over) / {p}lane)",
        f"{p}most = min({_MOST_LANES}, tl.align_down({p}fit, 8))",
        f"{p}parts = 1",
        f"if {p}fit < {_LEAST_LANES}:",
        f"    {p}deep = {p}over + {_LEAST_LANES}.0 * {p}each",
        f"    {p}part = int(({p}room - float({taps_w} + 20) * {p}deep)"
        f" / ({p}scale_w * {p}deep + {_LEAST_LANES}.0 * {cols}))",
        f"    {p}most = {_LEAST_LANES}",
        f"    if {p}part < 8:",
        "        # Steps so large that only the source of a single row fits.",
        f"        {p}deep = {p}over + {p}each + 7.0 * {p}work",
        f"        {p}part = int(({p}room - float({taps_w} + 20) * {p}deep)"
        f" / ({p}scale_w * {p}deep + 8.0 * {cols}))",
        f"        {p}most = 1",
        f'    tl.require({p}part >= 8, "the source of a few results must fit")',
        f"    {p}parts = tl.cdiv({p}results_w, tl.align_down({p}part, 8))",
        f"{p}cols = tl.align_up(tl.cdiv({p}results_w, {p}parts), 8)",
        f"{p}chunks = tl.cdiv({p}results_w, {p}cols)",
        f"{p}span_w = min({p}source_w, int(float({p}cols - 1) * {p}scale_w) + {taps_w} + 4)",
        f"{p}blocks = tl.cdiv({p}span_w, 8)",
    ]
    lines += _flat(resize, p) if resize.flat else _units(resize, p)
    lines += [
        f"{p}cores = max(1, min(tl.num_cores(), {p}tiles))",
        f"{p}per_core = tl.cdiv({p}tiles, {p}cores)",
    ]
    arguments = [resize.x.name, resize.y.name, *(p + name for name in parameters(resize))]
    return [*lines, f"{resize.name}[{p}cores]({', '.join(arguments)})"]


def _taps(axis: Axis, p: str) -> str:
    return f"{p}taps_{axis.name}" if axis.taps is None else str(axis.taps)


def _axis_lines(axis: Axis, p: str) -> list[str]:
    name = axis.name
    source, results, scale = f"{p}source_{name}", f"{p}results_{name}", f"{p}scale_{name}"
    lines = [
        f"{source} = {axis.source}",
        f"{results} = {axis.results}",
        f"{scale} = {axis.step_text(source, results)}",
    ]
    if axis.kind == "antialias":
        lines += [
            f"{p}support_{name} = max({scale}, 1.0)",
            f"{p}narrow_{name} = 1.0 / {p}support_{name}",
            f"{p}taps_{name} = 2 * int({p}support_{name} + 1.0) + 1",
        ]
    return lines


def _flat(resize: Resize, p: str) -> list[str]:
    return [
        f"{p}slices = {resize.slices}",
        f"{p}group = max(1, min({p}most, tl.cdiv({p}slices * {p}chunks, tl.num_cores())))",
        f"{p}span_h = 1",
        f"{p}strips = tl.cdiv({p}group, 8)",
        f"{p}groups = tl.cdiv({p}slices, {p}group)",
        f"{p}tiles = {p}groups * {p}chunks",
    ]


def _units(resize: Resize, p: str) -> list[str]:
    slices = str(resize.slices)
    if not resize.depth.plain:
        slices = f"({resize.slices}) * {p}results_d"
    several = f"min({p}most // {p}rows_out, tl.cdiv({p}slices, tl.num_cores()))"
    if not resize.depth.plain or resize.height.kind == "antialias":
        several = "1"
    taps = _taps(resize.height, p)
    return [
        f"{p}slices = {slices}",
        "# Blocks of rows small enough that every core has one.",
        f"{p}share = tl.cdiv({p}slices * {p}results_h * {p}chunks, tl.num_cores())",
        f"{p}blocks_h = tl.cdiv({p}results_h, min({p}most, max(8, {p}share)))",
        f"{p}rows_out = tl.cdiv({p}results_h, {p}blocks_h)",
        f"{p}blocks_h = tl.cdiv({p}results_h, {p}rows_out)",
        "# Several small planes in one tile; their rows follow each other.",
        f"{p}group = max(1, {several}) if {p}blocks_h == 1 else 1",
        f"{p}strips = tl.cdiv({p}group * {p}rows_out, 8)",
        f"{p}span_h = {p}source_h if {p}group > 1 else"
        f" min({p}source_h, int(float({p}rows_out - 1) * {p}scale_h) + {taps} + 4)",
        f"{p}groups = tl.cdiv({p}slices, {p}group)",
        f"{p}tiles = {p}groups * {p}chunks * {p}blocks_h",
    ]
