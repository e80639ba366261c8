# SPDX-License-Identifier: Apache-2.0
"""Shapes of a row with fewer elements: the same ranks, alignments kept, what was equal stays so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

_ALIGNMENTS = (512, 128, 32, 16, 8, 4, 2, 1)
_LEAST = 2
_MOST_STEPS = 200

Extents = dict[int, int]  # what extents become


def elements(shapes: Any) -> int:
    """Elements of all tensors of a nest of shapes."""
    return sum(math.prod(shape) for shape in _each(shapes))


def fewer(shapes: Any, most: int) -> list[Extents]:
    """What extents become so that there are no more elements, in the ways worth trying.

    An extent is halved wherever it appears, outer axes first or the largest first.
    """
    found: list[Extents] = []
    for outer in (True, False):
        numbers = _fewer(shapes, most, outer=outer)
        if elements(mapped(shapes, numbers)) <= most and numbers not in found:
            found.append(numbers)
    return found


def mapped(shapes: Any, numbers: Extents) -> Any:
    """A nest of shapes with other extents."""
    if isinstance(shapes, list):
        return [mapped(item, numbers) for item in shapes]
    return numbers.get(shapes, shapes)


def below(ranges: Any, numbers: Extents) -> Any:
    """Upper ends that are an extent less one follow the extent."""
    if isinstance(ranges, list):
        return [below(item, numbers) for item in ranges]
    if type(ranges) is int and ranges + 1 in numbers and ranges > 1:
        return numbers[ranges + 1] - 1
    return ranges


def _each(shapes: Any) -> Iterator[list[int]]:
    if not isinstance(shapes, list) or not shapes:
        return
    if all(isinstance(extent, int) for extent in shapes):
        yield shapes
        return
    for item in shapes:
        yield from _each(item)


def _fewer(shapes: Any, most: int, *, outer: bool) -> dict[int, int]:
    """What extents become."""
    now = {extent: extent for shape in _each(shapes) for extent in shape}
    for _ in range(_MOST_STEPS):
        if elements(mapped(shapes, now)) <= most:
            break
        largest = max(_each(mapped(shapes, now)), key=math.prod)
        order = largest if outer else sorted(largest, reverse=True)
        step = next((e for e in order if _half(e) is not None), None)
        if step is None:
            break
        smaller = _half(step)
        assert smaller is not None
        now = {extent: smaller if value == step else value for extent, value in now.items()}
    return now


def _half(extent: int) -> int | None:
    """At most half, with the same remainder by as large a power of two as there is room for."""
    for unit in _ALIGNMENTS:
        smaller = extent // 2 - (extent // 2 - extent) % unit
        if smaller >= max(_LEAST, unit):
            return smaller
    return None
