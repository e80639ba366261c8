# SPDX-License-Identifier: Apache-2.0
"""Rows whose tensors are too large to be computed here, at smaller sizes."""

from __future__ import annotations

import math
import re

from npuforge.bench.tables import Row

_SHAPE = re.compile(r"\[([\d, ]+)\]")
_NUMBER = re.compile(r"\d+")
_MOST = 100_000_000  # elements in the shapes of a row
_TARGET = 8_000_000


def smaller(row: Row) -> Row | None:
    """The row with the same ranks and fewer elements; None where it is not too large.

    What is one extent in several shapes stays one: the largest is halved wherever it stands.
    """
    if _elements(row) <= _MOST:
        return None
    while _elements(row) > _TARGET:
        largest = max(extent for shape in _shapes(row) for extent in shape)
        row = {name: _halved(name, value, largest) for name, value in row.items()}
    return row


def _is_shape(name: str, value: object) -> bool:
    return "shape" in name.lower() and isinstance(value, str)


def _shapes(row: Row) -> list[list[int]]:
    texts = [value for name, value in row.items() if _is_shape(name, value)]
    return [[int(n) for n in _NUMBER.findall(s)] for text in texts for s in _SHAPE.findall(text)]


def _elements(row: Row) -> int:
    return sum(math.prod(shape) for shape in _shapes(row))


def _halved(name: str, value: object, extent: int) -> object:
    if not _is_shape(name, value):
        return value
    return re.sub(rf"\b{extent}\b", str(extent // 2), str(value))
