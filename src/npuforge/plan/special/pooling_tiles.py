# SPDX-License-Identifier: Apache-2.0
"""A pooling operation and how its tiles are cut: read by its kernel and by its host code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from npuforge.plan.special.folding import Axis, Folding, doubling_steps, fold
from npuforge.plan.values import Tensor
from npuforge.spec.size import Size


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
