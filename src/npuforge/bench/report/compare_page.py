# SPDX-License-Identifier: Apache-2.0
"""Two runs beside each other as a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from npuforge import page
from npuforge.bench.report import plots
from npuforge.bench.report.compare import KINDS, Change, Comparison
from npuforge.bench.report.compare_table import detail, settings_rows, summary_lines
from npuforge.bench.report.plots import Mark
from npuforge.bench.report.words import count, percent, plain

_TITLES = {
    "broken": "Passed before, not now",
    "fixed": "Passed now, not before",
    "slower": "Slower",
    "faster": "Faster",
    "gone": "Only before",
    "new": "Only now",
}


def comparison_html(found: Comparison) -> str:
    """One HTML text without references to anything outside."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in summary_lines(found))
    sections = [
        _tiles(found),
        page.section("In all", lines, "summary"),
        page.section("Settings that differ", _settings(found), "settings"),
        page.section("Times that changed", _times(found), "times"),
        *(page.section(_TITLES[kind], _changes(found.of(kind)), kind) for kind in KINDS),
    ]
    return page.page(
        title=f"{plain(found.a)} and {plain(found.b)} - npuforge compare",
        heading_html=f"{escape(plain(found.a))} <small>then</small> {escape(plain(found.b))}",
        subtitle=f"{count(found.common, 'task')} in both runs",
        body_html="\n".join(filter(None, sections)),
        style=page.data(__package__, "report.css"),
    )


def _tiles(found: Comparison) -> str:
    shares = f"{percent(found.passed_a)} then {percent(found.passed_b)}"
    points = "" if found.passed.value is None else f"{100 * found.passed.value:+.1f}"
    tiles = [("Passed", points, "points", shares)]
    tiles += [(_TITLES[kind], str(len(found.of(kind))), "tasks", "") for kind in KINDS]
    return page.tiles(tiles)


def _settings(found: Comparison) -> str:
    if not found.settings:
        return ""
    head = f"<th></th><th>{escape(plain(found.a))}</th><th>{escape(plain(found.b))}</th>"
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(old)}</td><td>{escape(new)}</td></tr>'
        for name, old, new in settings_rows(found)
    )
    return page.wide(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")


def _times(found: Comparison) -> str:
    marks = [
        Mark(change.ratio, change.kind, f"{plain(change.task)}: {detail(change)}")
        for change in found.changes
        if change.ratio is not None
    ]
    picture = plots.distribution(marks, "time now over time before", "times", {1.0: "as before"})
    return page.wide(picture)


def _changes(changes: Sequence[Change]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(plain(change.task))}</th>'
        f'<td class="reason">{escape(detail(change))}</td></tr>'
        for change in changes
    )
    return page.wide(f'<table class="reasons"><tbody>{rows}</tbody></table>') if rows else ""
