# SPDX-License-Identifier: Apache-2.0
"""Pooling: windows folded along depth and height row by row, along width on turned tiles.

Rows of a tile are added or compared as they lie. A row cannot be shifted by single elements in the
unified buffer, so the folded rows are transposed: columns become rows, shifts whole rows, and the
result is transposed back. A row of the turned tile has a lane for each row of results.

A *unit* is a block of rows of results in one slice; a tile holds one or several units, and all
columns or a chunk of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.special.folding import Axis, Folding, doubling_steps, fold
from npuforge.plan.special.pooling_host import host_lines
from npuforge.plan.special.pooling_kernel import kernel_text
from npuforge.plan.values import ONE, Tensor
from npuforge.spec.size import Size

# Windows of more rows are loaded one tap at a time.
_TALL = 8


@dataclass(frozen=True)
class Pool:
    """A pooling operation and how its tiles are cut.

    `by_tap`: a load brings one row of the window for each row of results; otherwise it brings every
    row that a block of results needs. `direct`: loaded rows are folded where they are, one unit at
    a time; otherwise they are gathered in a tile of their own first.
    """

    name: str
    x: Tensor
    y: Tensor
    slices: Size
    depth: Axis
    height: Axis
    width: Axis
    op: str
    include: bool
    divisor: int | None
    by_tap: bool
    direct: bool

    @property
    def neutral(self) -> str:
        return "-tl.inf" if self.op == "maximum" else "0.0"

    @property
    def flat(self) -> bool:
        """Every row stands for itself: only the width has windows."""
        return self.depth.trivial and self.height.trivial

    @property
    def taps(self) -> int:
        return self.depth.kernel * (self.height.kernel if self.by_tap else 1)

    @property
    def source(self) -> str:
        """The tile that holds whole rows before they are folded."""
        return "loaded" if self.direct else "rows"

    @cached_property
    def row_folding(self) -> Folding:
        """Windows along the height, where loads bring more than a tap."""
        if self.by_tap or self.flat:
            return Folding([], f"{self.source}[:lanes_used, {{0}}]")
        steps = doubling_steps(self.op, self.height.kernel)
        dense = self.height.stride == 1 and steps is not None
        names = ("folded", "folded2")
        return fold(self.op, self.source, names, self.height, "0", "lanes_used", dense=dense)

    @cached_property
    def dense(self) -> bool:
        """Are windows along the width folded by doubling?

        Rows of the turned tile are shorter than an instruction's 64 lanes, so that rows with a step
        cost more than their elements say.
        """
        steps = doubling_steps(self.op, self.width.kernel)
        return steps is not None and steps * self.width.stride <= 2 * (self.width.kernel - 1)

    @cached_property
    def column_folding(self) -> Folding:
        names = ("across", "across2")
        return fold(self.op, "turned", names, self.width, "at", "n", dense=self.dense)

    @property
    def axes(self) -> tuple[Axis, Axis, Axis]:
        return self.depth, self.height, self.width

    def varies(self, axis: Axis) -> bool:
        """Do averages divide by different numbers along this axis?"""
        if self.op == "maximum" or self.divisor is not None:
            return False
        return axis.clipped and (axis.ceil or not self.include)


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
