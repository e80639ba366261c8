# SPDX-License-Identifier: Apache-2.0
"""Pieces of SVG: escaped text, shapes that take their colours from the page, round axis ticks."""

from __future__ import annotations

import math
from html import escape


def attributes(**values: object) -> str:
    """`class_="a", x=1.5` as ` class="a" x="1.5"`; None is left out."""
    parts = []
    for name, value in values.items():
        if value is None:
            continue
        text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
        parts.append(f' {name.rstrip("_").replace("_", "-")}="{escape(text)}"')
    return "".join(parts)


def rect(
    x: float, y: float, width: float, height: float, class_: str, title: str = "", rx: float = 2.0
) -> str:
    shape = attributes(x=x, y=y, width=max(width, 0.4), height=height, rx=rx, class_=class_)
    return f"<rect{shape}>{_title(title)}</rect>" if title else f"<rect{shape}/>"


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    return f"<line{attributes(x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)}/>"


def text(x: float, y: float, words: str, class_: str = "", anchor: str | None = None) -> str:
    place = attributes(x=x, y=y, class_=class_ or None, text_anchor=anchor)
    return f"<text{place}>{escape(words)}</text>"


def circle(x: float, y: float, radius: float, class_: str, title: str = "") -> str:
    shape = attributes(cx=x, cy=y, r=radius, class_=class_)
    return f"<circle{shape}>{_title(title)}</circle>"


def path(points: list[tuple[float, float]], class_: str) -> str:
    commands = " ".join(
        f"{'M' if i == 0 else 'L'}{x:.1f} {y:.1f}" for i, (x, y) in enumerate(points)
    )
    return f"<path{attributes(d=commands, class_=class_)}/>"


def shape(points: list[tuple[float, float]], class_: str, title: str = "") -> str:
    """A closed outline that is filled."""
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f"<polygon{attributes(points=corners, class_=class_)}>{_title(title)}</polygon>"


def drawing(width: float, height: float, body: list[str], label: str) -> str:
    """A picture that scales with the page; `label` is read to those who cannot see it."""
    box = attributes(viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=label)
    return f"<svg{box}>{''.join(body)}</svg>"


def ticks(low: float, high: float, about: int) -> list[float]:
    """Return round numbers between `low` and `high`, about that many."""
    if not high > low:
        return [low]
    raw = (high - low) / max(about, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [min(max(k * step, low), high) for k in range(first, last + 1)]


def short(value: float) -> str:
    """A number of at most three digits that says something, or more where it is large."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 4)}f}" if abs(value) < 100 else f"{value:,.0f}"


def clipped(words: str, most: int) -> str:
    """Words that end with an ellipsis where they are too long."""
    return words if len(words) <= most else words[: most - 1] + "…"


def decades(low: float, high: float) -> tuple[float, float]:
    """The powers of ten around a span."""
    return 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))


def powers(low: float, high: float) -> list[float]:
    """Powers of ten to mark a logarithmic axis with, both ends included where they fit."""
    first, last = round(math.log10(low)), round(math.log10(high))
    step = max(1, (last - first) // 6)
    return [10.0**k for k in range(first, last + 1, step)]


def _title(words: str) -> str:
    return f"<title>{escape(words)}</title>"
