# SPDX-License-Identifier: Apache-2.0
"""Resizing, one axis after another.

Every result along an axis is a weighted sum of a few elements of the source. Along the height these
are rows: gathered by whole blocks with a table of places, scaled with a column of weights, added.
Along the width the tile is transposed, so that columns are rows too, and transposed back. Tables
are made once for a block of results and serve all planes.
"""

from __future__ import annotations

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.special.resize_axis import Axis, Resize
from npuforge.plan.special.resize_host import host_lines
from npuforge.plan.special.resize_kernel import kernel_text
from npuforge.plan.values import ONE


@writes("resize")
def resize(job: Job) -> list[Launch]:
    (x,), (y,) = job.args, job.results
    data = job.special.data
    axes = []
    for place, name in enumerate(("d", "h", "w")):
        kind = data["kind"] if place >= 3 - data["axes"] else "nearest"
        extents = x.shape[place + 1], y.shape[place + 1]
        axes.append(Axis(name, kind, *extents, data["align"], data["scales"][place]))
    depth, height, width = axes
    slices = x.shape[0]
    if depth.plain:
        slices, depth = slices * depth.source, _plain("d")
        if height.plain:
            slices, height = slices * height.source, _plain("h")
    operation = Resize(job.name, x, y, slices, depth, height, width)
    return [Launch(kernel_text(operation), host_lines(operation))]


def _plain(name: str) -> Axis:
    return Axis(name, "nearest", ONE, ONE, False, None)
