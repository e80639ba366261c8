# SPDX-License-Identifier: Apache-2.0
"""How much unified buffer a kernel takes, as a function of its tile: asked of the compiler.

Buffers are padded and helpers need temporaries, so the planner does not guess: it lowers the
program once, evaluates the compiler's own formula at a few sizes, and fits the host's arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from npuforge.lower.kernel_class import KernelCode
from npuforge.tile.expr import Expr, Number, Var, evaluate

# Steps of 512 bytes that buffers are rounded to make the fit a little too small.
_MARGIN = 2048
_TILES = (64, 256, 512, 1024, 1536, 2048, 65, 77, 131, 257, 515, 1029)  # odd ones are rounded up


@dataclass(frozen=True, slots=True)
class Fit:
    """tile * (each * whole + row) + extra * whole + fixed bytes, for a tile of `whole` elements."""

    each: float = 0.0
    row: float = 0.0
    extra: float = 0.0
    fixed: float = 0.0

    def taken(self, tile: int, whole: int) -> float:
        """Bytes of a tile."""
        return tile * (self.each * whole + self.row) + self.extra * whole + self.fixed

    def tiles_text(self, whole: str) -> str:
        """The host's expression for the largest tile that fits."""
        taken = _sum(_times(self.extra, whole), _up(self.fixed))
        each = _sum(_times(self.each, whole), _up(self.row))
        return f"(tl.ub_bytes() - {_bracket(taken)}) // {_bracket(each)}"


def fit_of(code: KernelCode, whole: str | None) -> Fit:
    """The fit for a kernel with a parameter `tile`; `whole` may be a parameter too."""
    names = {scalar.name for scalar in code.kernel.scalars}

    @cache
    def taken(tile: int, extent: int) -> float:
        values: dict[str, Number] = dict.fromkeys(names, 1)
        values["tile"] = tile
        if whole is not None:
            values[whole] = extent

        def leaf(expr: Expr) -> Number:
            assert isinstance(expr, Var)
            return values[expr.name]

        return float(evaluate(code.ub_bytes, leaf))

    if whole is None or whole not in names:
        return _line(taken, 1)
    lines = {extent: _line(taken, extent) for extent in (1, 33, 256, 1024, 4096)}
    near, far = lines[1024], lines[4096]
    each = max(0.0, (far.row - near.row) / (4096 - 1024))
    extra = max(0.0, (far.fixed - near.fixed) / (4096 - 1024))
    # Narrow rows are padded: what they take beyond the slope is counted once for every row.
    row = max(line.row - each * _padded(extent) for extent, line in lines.items())
    fixed = max(line.fixed - extra * _padded(extent) for extent, line in lines.items())
    return Fit(each, max(0.0, row), extra, max(0.0, fixed))


def _padded(extent: int) -> int:
    return -(-extent // 8) * 8


def _line(taken: Callable[[int, int], float], extent: int) -> Fit:
    small, large = 512, 2048
    slope = (taken(large, extent) - taken(small, extent)) / (large - small)
    # Some helpers take more with the tile only up to a point: the line is above all of these.
    fixed = max(taken(tile, extent) - slope * tile for tile in _TILES)
    return Fit(row=slope, fixed=max(0.0, fixed) + _MARGIN)


def _up(number: float) -> str:
    return str(math.ceil(number))


def _times(factor: float, text: str) -> str:
    return "0" if factor < 1e-9 else f"{_up(factor)} * {_bracket(text)}"


def _sum(*terms: str) -> str:
    kept = [term for term in terms if term != "0"]
    return " + ".join(kept) or "0"


def _bracket(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"


Fits = Mapping[str, Fit]
