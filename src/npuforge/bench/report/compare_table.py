# SPDX-License-Identifier: Apache-2.0
"""Two runs beside each other on the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from npuforge.bench.report.compare import KINDS, OF_TIME, Change, Comparison, Kind
from npuforge.bench.report.words import NOTHING, count, percent, plain
from npuforge.page.svg import short

_COLOURS: dict[Kind, str] = {
    "broken": "red",
    "fixed": "green",
    "slower": "yellow",
    "faster": "green",
    "gone": "red",
    "new": "green",
}


def comparison_table(found: Comparison) -> RenderableType:
    """Settings that differ, what changed, and the difference in all."""
    parts: list[RenderableType] = [Text(line) for line in _settings(found)]
    for kind in KINDS:
        changes = found.of(kind)
        if changes:
            parts.append(Text(f"{kind} {len(changes)}", style=f"bold {_COLOURS[kind]}"))
            parts += map(_change, changes)
    parts += [Text(line) for line in summary_lines(found)]
    return Group(*parts)


def summary_lines(found: Comparison) -> Iterator[str]:
    """The difference in all, with its interval."""
    yield (
        f"{count(found.common, 'task')} in both: passed {percent(found.passed_a)} "
        f"then {percent(found.passed_b)}, {_points(found)}"
    )
    time = found.time
    if time.value is None:
        other = ", ".join(name for name in OF_TIME if name in found.settings)
        why = f"other {other}" if other else "no task was timed in both"
        yield f"times are not compared: {why}"
        return
    span = "" if time.low is None or time.high is None else f" ({time.low:.3f} to {time.high:.3f})"
    yield f"time of {count(found.timed, 'task')} passed in both: {time.value:.3f} times{span}"


def settings_rows(found: Comparison) -> list[tuple[str, str, str]]:
    """Name, in the first, in the second."""
    return [(name, _value(old), _value(new)) for name, (old, new) in found.settings.items()]


def _value(value: object) -> str:
    return NOTHING if value is None else plain(str(value))


def _points(found: Comparison) -> str:
    value, low, high = found.passed.value, found.passed.low, found.passed.high
    if value is None:
        return "no difference to tell"
    span = "" if low is None or high is None else f" ({100 * low:+.1f} to {100 * high:+.1f})"
    return f"{100 * value:+.1f} points{span}"


def _settings(found: Comparison) -> Iterator[str]:
    for name, old, new in settings_rows(found):
        yield f"{name}: {old} then {new}"


def _change(change: Change) -> Text:
    return Text.assemble(f"  {plain(change.task)}  ", (detail(change), "dim"))


def detail(change: Change) -> str:
    """What was and what is."""
    if change.ratio is None or change.time_a is None or change.time_b is None:
        return " then ".join(filter(None, (change.was, change.now)))
    times = f"{short(change.time_a)} then {short(change.time_b)} us"
    return f"{times}, {change.ratio:.2f} times"
