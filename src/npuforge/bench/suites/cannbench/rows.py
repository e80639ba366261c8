# SPDX-License-Identifier: Apache-2.0
"""A case as a row for the sandbox: plain JSON, in full size or scaled down."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from npuforge.bench.suites.cannbench.checkout import Case, Operator

_ALIGNMENTS = (512, 128, 32, 16, 8, 4, 2, 1)
_LEAST = 2
_MOST_STEPS = 200


def row(operator: Operator, case: Case) -> dict[str, Any]:
    """All that makes a case: how inputs are made, what is called with them, how it is judged."""
    return {
        "case": case.number,
        "function": operator.function,
        "inputs": operator.inputs,
        "outputs": operator.outputs,
        "thresholds": operator.thresholds,
        "seed": operator.seed(case.number),
        "shapes": case.shapes,
        "dtypes": case.dtypes,
        "ranges": plain(case.ranges),
        "attributes": plain(case.attributes),
    }


def elements(shapes: Any) -> int:
    """Elements of all tensors of a nest of shapes."""
    return sum(math.prod(shape) for shape in _each(shapes))


def scaled(given: dict[str, Any], most: int) -> list[dict[str, Any]]:
    """The row with fewer elements, in the ways worth trying; empty where it is small enough.

    An extent is halved wherever it appears, outer axes first or the largest first, so that what was
    equal stays equal; whole numbers that were below an extent stay below it.
    """
    if elements(given["shapes"]) <= most:
        return []
    found: list[dict[str, Any]] = []
    for outer in (True, False):
        numbers = _fewer(given["shapes"], most, outer=outer)
        shapes = _mapped(given["shapes"], numbers)
        option = {**given, "shapes": shapes, "ranges": _below(given["ranges"], numbers)}
        if elements(shapes) <= most and option not in found:
            found.append(option)
    return found


def plain(value: Any) -> Any:
    """What JSON can say: infinities and not-a-number become text in a wrapping of their own."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


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
        if elements(_mapped(shapes, now)) <= most:
            break
        largest = max(_each(_mapped(shapes, now)), key=math.prod)
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


def _mapped(shapes: Any, numbers: dict[int, int]) -> Any:
    if isinstance(shapes, list):
        return [_mapped(item, numbers) for item in shapes]
    return numbers.get(shapes, shapes)


def _below(ranges: Any, numbers: dict[int, int]) -> Any:
    """Upper ends that are an extent less one follow the extent."""
    if isinstance(ranges, list):
        return [_below(item, numbers) for item in ranges]
    if type(ranges) is int and ranges + 1 in numbers and ranges > 1:
        return numbers[ranges + 1] - 1
    return ranges
