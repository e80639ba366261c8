# SPDX-License-Identifier: Apache-2.0
"""Pooling: windows folded along depth and height row by row, along width on turned tiles.

Rows of a tile are added or compared as they lie. A row cannot be shifted by single elements in the
unified buffer, so the folded rows are transposed: columns become rows, shifts whole rows, and the
result is transposed back. A row of the turned tile has a lane for each row of results.

A *unit* is a block of rows of results in one slice; a tile holds one or several units, and all
columns or a chunk of them.
"""

from __future__ import annotations

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.special.folding import Axis
from npuforge.plan.special.pooling_host import host_lines
from npuforge.plan.special.pooling_kernel import kernel_text
from npuforge.plan.special.pooling_tiles import Pool
from npuforge.plan.values import ONE

# Windows of more rows are loaded one tap at a time.
_TALL = 8


@writes("pool")
def pool(job: Job) -> list[Launch]:
    (x,), (y,) = job.args, job.results
    data = job.special.data
    ceil = bool(data["ceil"])
    axes = [
        Axis(x.shape[place + 1], y.shape[place + 1], kernel, stride, padding, dilation, ceil)
        for place, (kernel, stride, padding, dilation) in enumerate(
            zip(data["kernel"], data["stride"], data["padding"], data["dilation"], strict=True)
        )
    ]
    depth, height, width = axes = [_plain(axis) for axis in axes]
    slices = x.shape[0]
    if depth.trivial:  # slices are planes of their own
        slices, depth = slices * depth.extent, _one()
        if height.trivial:  # and so are rows
            slices, height = slices * height.extent, _one()
    tall = height.reach > _TALL
    kind = data["kind"]
    plain = x.dtype == "float32" and depth.trivial
    many = height.results.at(job.example) >= 16 and not height.clipped and not tall
    operation = Pool(
        job.name,
        x,
        y,
        slices,
        depth,
        height,
        width,
        "maximum" if kind == "max" else "add",
        bool(data.get("include", True)),
        data.get("divisor"),
        by_tap=tall,
        direct=plain and (height.trivial or many),
    )
    return [Launch(kernel_text(operation), host_lines(operation))]


def _plain(axis: Axis) -> Axis:
    """Rounding up means nothing where windows begin at every element."""
    if axis.ceil and axis.stride == 1:
        return Axis(axis.extent, axis.results, axis.kernel, 1, axis.padding, axis.dilation, False)
    return axis


def _one() -> Axis:
    return Axis(ONE, ONE, 1, 1, 0, 1, False)
