# SPDX-License-Identifier: Apache-2.0
"""The pipe timeline: what each pipe of a few cores does, the first tiles close up.

Reads the trace that `npuforge profile --trace` writes. The picture has two parts: the first core's
whole run in a strip, and below it the beginning of that run, for several cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from npuforge.page import svg

_WIDTH = 1120.0
_LEFT = 104.0
_RIGHT = 12.0
_LANE = 20.0
_GAP = 4.0
_CORES = 3
_CLOSE_UP = 90  # instructions of the first core, flags aside, in the close-up
_PIPES = ("MTE2", "VECTOR", "MTE3", "SCALAR", "CUBE", "MTE1", "FIXP")
_LETTER = 5.9  # width of a letter of a label


class _Event(msgspec.Struct):
    ph: str
    name: str = ""
    pid: int = 0
    tid: int = 0
    ts: float = 0.0
    dur: float = 0.0
    args: dict[str, msgspec.Raw] = {}


class _Trace(msgspec.Struct):
    traceEvents: list[_Event]  # noqa: N815 (the format's name)


@dataclass(frozen=True, slots=True)
class Span:
    """An instruction on a pipe of a core, in microseconds."""

    core: str
    pipe: str
    name: str
    start: float
    end: float


def read(trace: bytes) -> list[Span]:
    """The spans of a trace in order of time; none if the text is no trace."""
    try:
        events = msgspec.json.decode(trace, type=_Trace).traceEvents
        cores: dict[int, str] = {}
        pipes: dict[tuple[int, int], str] = {}
        for event in events:
            if event.ph == "M" and "name" in event.args:
                name = msgspec.json.decode(event.args["name"], type=str)
                if event.name == "process_name":
                    cores[event.pid] = name
                elif event.name == "thread_name":
                    pipes[event.pid, event.tid] = name
    except (msgspec.DecodeError, msgspec.ValidationError):
        return []
    spans = [
        Span(
            cores.get(event.pid, str(event.pid)),
            pipes.get((event.pid, event.tid), str(event.tid)),
            event.name,
            event.ts,
            event.ts + event.dur,
        )
        for event in events
        if event.ph == "X"
    ]
    return sorted(spans, key=lambda span: span.start)


def draw(trace: bytes) -> str:
    """The picture; nothing for a trace without instructions."""
    spans = read(trace)
    if not spans:
        return ""
    cores = list(dict.fromkeys(span.core for span in sorted(spans, key=_core_order)))
    first = [span for span in spans if span.core == cores[0]]
    whole = max(span.end for span in first)
    until = close_up(first)
    body: list[str] = []
    y = 14.0
    body.append(svg.text(0, y, f"{cores[0]}, whole run", "lane-title"))
    y += 8.0
    y = _strip(body, first, y, whole, until)
    y += 30.0
    for core in cores[:_CORES]:
        own = [span for span in spans if span.core == core and span.start < until]
        body.append(svg.text(0, y, f"{core}, the first {svg.short(until)} us", "lane-title"))
        body.append('<g class="lanes">')
        y = _lanes(body, own, y + 8.0, until) + 22.0
        body.append("</g>")
    _axis(body, y - 16.0, until, "us since the kernel's start")
    return svg.drawing(_WIDTH, y + 20.0, body, "Pipe timeline of the first cores")


def close_up(spans: Sequence[Span]) -> float:
    """Where the close-up ends: after so many instructions of the first core, or with its run."""
    work = [span for span in spans if span.pipe != "SCALAR" and "Flag" not in span.name]
    if len(work) <= _CLOSE_UP:
        return max(span.end for span in spans)
    return work[_CLOSE_UP].start


def merged(spans: Sequence[Span], gap: float) -> list[tuple[float, float]]:
    """Stretches of work, neighbours closer than `gap` joined."""
    found: list[tuple[float, float]] = []
    for span in sorted(spans, key=lambda span: span.start):
        if found and span.start - found[-1][1] <= gap:
            found[-1] = found[-1][0], max(found[-1][1], span.end)
        else:
            found.append((span.start, span.end))
    return found


def _core_order(span: Span) -> tuple[int, str]:
    return len(span.core), span.core


def _lane_order(spans: Sequence[Span]) -> list[str]:
    used = {span.pipe for span in spans}
    return [p for p in _PIPES if p in used] + sorted(used - set(_PIPES))


def _scale(value: float, until: float) -> float:
    return _LEFT + value / until * (_WIDTH - _LEFT - _RIGHT)


def _strip(body: list[str], spans: Sequence[Span], y: float, whole: float, until: float) -> float:
    height = 10.0
    top = y
    pixel = whole / (_WIDTH - _LEFT - _RIGHT)
    for pipe in _lane_order(spans):
        own = [span for span in spans if span.pipe == pipe]
        body.append(svg.text(_LEFT - 10, y + height - 1, pipe, "lane-name small", "end"))
        for start, end in merged(own, pixel):
            x = _scale(start, whole)
            body.append(svg.rect(x, y, _scale(end, whole) - x, height, f"p-{_style(pipe)}", rx=1))
        y += height + 3
    if until < whole:
        width = _scale(until, whole) - _LEFT
        body.append(svg.rect(_LEFT, top - 3, width, y - top + 3, "window"))
    _axis(body, y + 2, whole, "")
    return y + 16


def _lanes(body: list[str], spans: Sequence[Span], y: float, until: float) -> float:
    for pipe in _lane_order(spans):
        body.append(svg.rect(_LEFT, y, _WIDTH - _LEFT - _RIGHT, _LANE, "lane"))
        body.append(svg.text(_LEFT - 10, y + _LANE - 6, pipe, "lane-name", "end"))
        own = [span for span in spans if span.pipe == pipe]
        starts = [span.start for span in own[1:]] + [until]
        for span, following in zip(own, starts, strict=True):
            end = min(span.end, until)
            x, width = _scale(span.start, until), _scale(end, until) - _scale(span.start, until)
            waits = "Wait" in span.name or "Flag" in span.name or "Barrier" in span.name
            style = f"p-{_style(pipe)}" + (" quiet" if waits else "")
            title = f"{span.name}  {span.start:.3f} to {span.end:.3f} us"
            body.append(svg.rect(x, y + 1, width - 0.4, _LANE - 2, style, title))
            # transfers overlap: a name must fit before the next one covers it
            room = min(width, _scale(following, until) - x)
            if room > _LETTER * len(span.name) + 6 and not waits:
                body.append(svg.text(x + 4, y + _LANE - 6, span.name, "span-name"))
        y += _LANE + _GAP
    return y


def _axis(body: list[str], y: float, high: float, label: str) -> None:
    for tick in svg.ticks(0.0, high, 10):
        x = _scale(tick, high)
        body.append(svg.line(x, y, x, y + 4, "tick"))
        body.append(svg.text(x, y + 14, f"{tick:g}", "tick-text", "middle"))
    if label:
        body.append(svg.text(_LEFT, y + 28, label, "tick-text"))


def _style(pipe: str) -> str:
    return pipe.lower() if pipe in _PIPES else "other"
