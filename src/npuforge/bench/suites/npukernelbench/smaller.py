# SPDX-License-Identifier: Apache-2.0
"""Rows at other sizes: smaller ones where they are too large here, and ones not in the table."""

from __future__ import annotations

import math
import re

from npuforge.bench.tables import Row

_SHAPE = re.compile(r"\[([\d, ]+)\]")
_NUMBER = re.compile(r"\d+")
_MOST = 100_000_000  # elements in the shapes of a row
_TARGET = 8_000_000
_SCALED = 1_000_000
_ALIGNMENT = 128


def smaller(row: Row) -> Row | None:
    """The row with the same ranks and fewer elements; None where it is not too large."""
    return _below(row, _TARGET) if elements(row) > _MOST else None


def scaled(row: Row) -> Row:
    """The row as `--shapes scaled` has it, with so few elements that all cases take little time."""
    return _below(row, _SCALED)


def _below(row: Row, most: int) -> Row:
    """What is one extent in several shapes stays one: the largest is halved wherever it stands."""
    while elements(row) > most:
        largest = _largest(row)
        row = _with_extent(row, largest, largest // 2)
    return row


def fresh(row: Row) -> Row | None:
    """The row at sizes of its own: half its largest extent, or another multiple of what that is one
    of, so that a kernel may go on counting on what all rows share."""
    extent = _largest(row)
    aligned = min(extent & -extent, _ALIGNMENT)
    other = extent // 2 if extent % (2 * _ALIGNMENT) == 0 else extent - aligned or extent + aligned
    return _with_extent(row, extent, other) if extent > 1 else None


def _is_shape(name: str, value: object) -> bool:
    return "shape" in name.lower() and isinstance(value, str)


def _shapes(row: Row) -> list[list[int]]:
    texts = [value for name, value in row.items() if _is_shape(name, value)]
    return [[int(n) for n in _NUMBER.findall(s)] for text in texts for s in _SHAPE.findall(text)]


def elements(row: Row) -> int:
    """Elements in all shapes of the row."""
    return sum(math.prod(shape) for shape in _shapes(row))


def _largest(row: Row) -> int:
    return max((extent for shape in _shapes(row) for extent in shape), default=0)


def _with_extent(row: Row, extent: int, other: int) -> Row:
    return {
        name: re.sub(rf"\b{extent}\b", str(other), value) if _is_shape(name, value) else value
        for name, value in row.items()
    }
