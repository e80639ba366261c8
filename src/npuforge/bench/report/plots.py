# SPDX-License-Identifier: Apache-2.0
"""Distributions over tasks: a mark for each, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from npuforge.page import svg

_WIDTH, _LEFT, _RIGHT = 1120.0, 20.0, 20.0
_STEP = 11.0  # from mark to mark, sideways and upwards
_TALLEST = 200.0  # of a stack; a higher one is squeezed
_SHAPES: tuple[Callable[[float, float, float, str, str], str], ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A task's value; `kind` is one of a few, told apart by colour and by shape."""

    value: float
    kind: str
    title: str


def distribution(
    marks: Sequence[Mark], label: str, unit: str, lines: Mapping[float, str] | None = None
) -> str:
    """Marks stacked where values meet; nothing where there are none. `lines` are thresholds."""
    shown = [mark for mark in marks if mark.value > 0 and math.isfinite(mark.value)]
    if not shown:
        return ""
    reached = [*(mark.value for mark in shown), *(lines or {})]
    low, high = svg.decades(min(reached), max(reached))
    high = max(high, 10 * low)  # values that are one power of ten span nothing
    columns = int((_WIDTH - _LEFT - _RIGHT) // _STEP)

    def place(value: float) -> float:
        return math.log10(value / low) / math.log10(high / low)

    kinds = sorted({mark.kind for mark in shown})
    stacks: dict[int, list[Mark]] = {}
    for mark in sorted(shown, key=lambda mark: (kinds.index(mark.kind), mark.value)):
        stacks.setdefault(min(int(place(mark.value) * columns), columns - 1), []).append(mark)
    tallest = max(map(len, stacks.values()))
    up = min(_STEP, _TALLEST / tallest)
    floor = 44.0 + up * tallest
    body = _axis(low, high, floor, place)
    for value, words in (lines or {}).items():
        x = _x(place(value))
        body.append(svg.line(x, 30.0, x, floor, "threshold"))
        body.append(svg.text(x + 4, 40.0, words, "tick-text"))
    for column, stack in stacks.items():
        x = _x((column + 0.5) / columns)
        for height, mark in enumerate(stack):
            y = floor - up * (height + 0.5) - 1
            number = kinds.index(mark.kind)
            shape = _SHAPES[number % len(_SHAPES)]
            body.append(shape(x, y, 4.4, f"mark k{number % len(_SHAPES)}", mark.title))
    body += _legend(kinds, shown)
    body.append(svg.text(_WIDTH / 2, floor + 34, f"{label}, {unit}", "axis-text", "middle"))
    return svg.drawing(_WIDTH, floor + 42, body, f"Distribution: {label}")


def _axis(low: float, high: float, floor: float, place: Callable[[float], float]) -> list[str]:
    body = [svg.line(_LEFT, floor, _WIDTH - _RIGHT, floor, "tick")]
    for power in svg.powers(low, high):
        for factor in (1, 2, 5):
            value = factor * power
            if value > high * 1.0001:
                continue
            x = _x(place(value))
            body.append(svg.line(x, floor, x, floor + 4, "tick"))
            body.append(svg.text(x, floor + 17, f"{value:,g}", "tick-text", "middle"))
    return body


def _legend(kinds: Sequence[str], shown: Sequence[Mark]) -> list[str]:
    body: list[str] = []
    x = _LEFT + 4
    for number, kind in enumerate(kinds):
        shape = _SHAPES[number % len(_SHAPES)]
        words = f"{kind} ({sum(mark.kind == kind for mark in shown)})"
        body.append(shape(x, 12.0, 4.8, f"mark k{number % len(_SHAPES)}", kind))
        body.append(svg.text(x + 11, 16.0, words, "legend"))
        x += 34 + 6.6 * len(words)
    return body


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _square(x: float, y: float, radius: float, class_: str, title: str) -> str:
    side = 1.7 * radius
    return svg.rect(x - side / 2, y - side / 2, side, side, class_, title, rx=0.5)


def _diamond(x: float, y: float, radius: float, class_: str, title: str) -> str:
    r = 1.15 * radius
    return svg.shape([(x, y - r), (x + r, y), (x, y + r), (x - r, y)], class_, title)


def _triangle(x: float, y: float, radius: float, class_: str, title: str) -> str:
    r = 1.1 * radius
    return svg.shape([(x, y - r), (x + r, y + r * 0.8), (x - r, y + r * 0.8)], class_, title)


_SHAPES = (svg.circle, _square, _diamond, _triangle)


def bar(
    share: float,
    low: float | None,
    high: float | None,
    others: Sequence[tuple[float, str]],
    title: str,
) -> str:
    """A share as a bar for a cell of a table, with its interval, and others' as diamonds."""
    width, height = 110.0, 14.0
    body = [
        svg.rect(0, 3, width, 8, "lane"),
        svg.rect(0, 3, width * share, 8, "filled", title),
    ]
    if low is not None and high is not None:
        body.append(svg.line(width * low, 7, width * high, 7, "whisker"))
        body += [svg.line(width * end, 4, width * end, 10, "whisker") for end in (low, high)]
    for value, name in others:
        x = min(max(width * value, 5.0), width - 5.0)
        body.append(_diamond(x, 7.0, 4.2, "theirs", name))
    return svg.drawing(width, height, body, title)
