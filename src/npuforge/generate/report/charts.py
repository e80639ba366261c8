# SPDX-License-Identifier: Apache-2.0
"""The other pictures of a report: roofline, pipes, and what the candidates took."""

from __future__ import annotations

import math

from npuforge.generate.outcome import Outcome
from npuforge.page import svg
from npuforge.twin.timing.report import TimingReport

_PIPE_STYLE = {"V": "vector", "MTE2": "mte2", "MTE3": "mte3", "S": "scalar", "M": "cube"}


def roofline(timing: TimingReport, eager_us: float | None) -> str:
    """Speed over intensity, both relative to the chip: the ridge is where the two roofs meet.

    Intensity is the time all vector cores need for the work over the time the memory needs for the
    bytes; speed is the share of the vector peak. Both axes are logarithmic.
    """
    width, height, left, top, right, bottom = 540.0, 330.0, 58.0, 16.0, 18.0, 46.0
    work = max(timing.roofline.compute_us, 1e-6)
    intensity = work / max(timing.roofline.memory_us, 1e-6)
    points = [("this kernel", work / timing.time_us, "here")]
    if eager_us:
        points.append(("PyTorch eager", work / eager_us, "eager"))
    lows = [share for _, share, _ in points]
    x_low, x_high = svg.decades(min(intensity, 0.2), max(intensity, 5.0))
    y_low, y_high = svg.decades(min(*lows, x_low * 3, 0.05), max(*lows, 1.0))

    def px(value: float) -> float:
        share = math.log10(value / x_low) / math.log10(x_high / x_low)
        return left + share * (width - left - right)

    def py(value: float) -> float:
        share = math.log10(max(value, y_low) / y_low) / math.log10(y_high * 1.6 / y_low)
        return height - bottom - share * (height - top - bottom)

    body = [svg.rect(left, top, width - left - right, height - top - bottom, "plot", rx=3)]
    for value in svg.powers(x_low, x_high):
        body.append(svg.line(px(value), top, px(value), height - bottom, "grid"))
        body.append(svg.text(px(value), height - bottom + 16, f"{value:g}", "tick-text", "middle"))
    for value in svg.powers(y_low, y_high):
        body.append(svg.line(left, py(value), width - right, py(value), "grid"))
        words = f"{100 * value:g} %"
        body.append(svg.text(left - 8, py(value) + 4, words, "tick-text", "end"))
    edge = max(x_low, y_low)
    roof = [(px(edge), py(edge)), (px(1.0), py(1.0)), (px(x_high), py(1.0))]
    body.append(svg.path(roof, "roof"))
    body.append(svg.text(px(1.0) + 8, py(1.0) - 7, "vector peak", "roof-text"))
    middle = math.sqrt(edge)
    body.append(svg.text(px(middle) - 8, py(middle) - 8, "memory bandwidth", "roof-text", "end"))
    limit = work / timing.roofline.best_us
    body.append(svg.line(px(intensity), py(limit), px(intensity), py(lows[0]), "to-roof"))
    body.append(svg.line(px(intensity) - 7, py(limit), px(intensity) + 7, py(limit), "limit"))
    for name, share, style in points:
        title = f"{name}: {100 * share:.1f} % of the vector peak"
        body.append(svg.circle(px(intensity), py(share), 6, f"dot {style}", title))
        side = -12 if px(intensity) > width * 0.62 else 12
        anchor = "end" if side < 0 else "start"
        body.append(svg.text(px(intensity) + side, py(share) + 4, name, "dot-text", anchor))
    label = "vector work per byte, relative to the chip's balance"
    body.append(svg.text((left + width - right) / 2, height - 8, label, "axis-text", "middle"))
    return svg.drawing(width, height, body, "Roofline plot")


def pipes(timing: TimingReport) -> str:
    """How long each pipe of a core is busy, and how long it waits, beside the whole time."""
    width, left, right, row = 540.0, 58.0, 64.0, 34.0
    body: list[str] = []
    for place, (name, times) in enumerate(timing.pipes.items()):
        y = 8.0 + place * row
        full = width - left - right
        scale = full / max(timing.time_us, 1e-9)
        busy, wait = times.busy_us * scale, times.wait_us * scale
        style = _PIPE_STYLE.get(name, "other")
        body.append(svg.text(left - 10, y + 15, name, "lane-name", "end"))
        body.append(svg.rect(left, y, full, 20, "lane"))
        busy_title, wait_title = f"busy {times.busy_us:.2f} us", f"waiting {times.wait_us:.2f} us"
        body.append(svg.rect(left, y, busy, 20, f"p-{style}", busy_title))
        if wait > 0.5:
            fits = min(wait, full - busy)
            body.append(svg.rect(left + busy, y, fits, 20, f"p-{style} quiet", wait_title))
        words = f"{svg.short(times.busy_us)} us"
        body.append(svg.text(width - right + 8, y + 15, words, "value"))
    return svg.drawing(width, 8.0 + row * len(timing.pipes), body, "Busy time of the pipes")


def candidates(outcome: Outcome) -> str:
    """A bar for each variant that was timed, and one for eager PyTorch where it is comparable.

    Variants of large operators are compared with fewer rows; eager PyTorch's time is then of
    another size.
    """
    width, left, right, row = 1120.0, 250.0, 250.0, 32.0
    known = outcome.verdict.baseline_us if compared_in_full(outcome) else None
    timed = [c.time_us for c in outcome.candidates if c.time_us is not None]
    most = max(timed, default=0.0)
    bars: list[tuple[str, float | None, str, str]] = []
    for candidate in outcome.candidates:
        style = "chosen" if candidate.state == "chosen" else "slower"
        if candidate.state in ("wrong", "failed"):
            style = "wrong"
        words = candidate.note or ("chosen" if style == "chosen" else candidate.state)
        bars.append((candidate.variant.title, candidate.time_us, style, words))
    if known is not None:
        bars.append(("PyTorch eager", known, "eager", f"{outcome.verdict.baseline_source}"))
        most = max(most, min(known, 4 * most if most else known))
    body: list[str] = []
    full = width - left - right
    for place, (title, value, style, words) in enumerate(bars):
        y = 6.0 + place * row
        body.append(svg.text(left - 12, y + 15, svg.clipped(title, 36), "bar-name", "end"))
        if value is None:
            body.append(svg.text(left, y + 15, svg.clipped(words, 90), "value muted"))
            continue
        length = full * min(value / most, 1.0) if most else 0.0
        body.append(svg.rect(left, y, length, 20, f"bar {style}", f"{title}: {value:.2f} us"))
        if value > most:  # longer than the picture: say so
            body.append(svg.path(_break(left + length, y), "break"))
        label = f"{svg.short(value)} us"
        body.append(svg.text(left + length + 8, y + 15, label, "value"))
        offset = left + length + 18 + 7.2 * len(label)
        body.append(svg.text(offset, y + 15, svg.clipped(words, 34), "value muted"))
    return svg.drawing(width, 6.0 + row * len(bars), body, "Time of each candidate")


def compared_in_full(outcome: Outcome) -> bool:
    """Whether the candidates' times are at the sizes that were asked for."""
    chosen, final = outcome.chosen.time_us, outcome.verdict.time_us
    return chosen is not None and final is not None and abs(chosen / final - 1.0) < 0.02


def _break(x: float, y: float) -> list[tuple[float, float]]:
    return [(x - 16, y - 3), (x - 10, y + 7), (x - 16, y + 13), (x - 10, y + 23)]
