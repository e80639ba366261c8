# SPDX-License-Identifier: Apache-2.0
"""A part of the rows that `join` puts together."""

from __future__ import annotations

from dataclasses import dataclass

from npuforge.spec.size import Size

_ZERO = Size.of(0)


@dataclass(frozen=True, slots=True)
class Part:
    """`run` elements of each row: from argument `source`, whose rows are `pitch` apart and whose
    first run begins at `offset`, or the number `fill`."""

    run: Size
    source: int | None = None
    offset: Size = _ZERO
    pitch: Size = _ZERO
    fill: float | int | bool = 0
