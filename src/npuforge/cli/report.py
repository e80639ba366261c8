# SPDX-License-Identifier: Apache-2.0
"""A verdict for people: short, coloured, with the source line of everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rich.markup import escape
from rich.table import Table

from npuforge import rules
from npuforge.errors import UsageError
from npuforge.printable import one_line, printable
from npuforge.twin.project_files import ProjectFiles
from npuforge.verdict import Advice, Diagnostic, Race, Side, Violation

if TYPE_CHECKING:
    from rich.console import Console

    from npuforge.twin.verify import Report

_COLOURS = {"error": "red", "warning": "yellow", "advice": "cyan"}
_MOST_ADVICE = 5
_MOST_CASES = 20
_MOST_FOUND = 200
_MOST_PRINTED = 1000
_Found = TypeVar("_Found")


def show(report: Report, out: Console) -> None:
    """Print the whole report."""
    verdict = report.verdict
    source = _Lines(report.root)
    if verdict.compiled is False:
        out.print("[bold red]does not compile[/]")
    for diagnostic in _first(verdict.diagnostics, "messages", out):
        _diagnostic(diagnostic, source, out)
    violations = sorted(verdict.violations, key=lambda v: v.severity)
    for violation in _first(violations, "broken rules", out):
        _finding(violation, source, out)
    for race in _first(verdict.races, "races", out):
        _race(race, source, out)
    costly = sorted(verdict.advice, key=lambda a: -(a.cycles_lost or 0.0))
    for advice in costly[:_MOST_ADVICE]:
        _finding(advice, source, out)
    if len(costly) > _MOST_ADVICE:
        out.print(f"[cyan]and {len(costly) - _MOST_ADVICE} more pieces of advice (--json)[/]")
    if report.printed:
        _printed(report.printed, out)
    _cases(report, out)
    _timing(report, out)
    if verdict.error is not None:
        out.print(f"[bold red]error[/] {escape(verdict.error)}")
    _last_line(report, out)


def _first(found: Sequence[_Found], name: str, out: Console) -> Iterator[_Found]:
    """Yield the first ones, and then say how many are left out."""
    yield from found[:_MOST_FOUND]
    if len(found) > _MOST_FOUND:
        out.print(f"[yellow]and {len(found) - _MOST_FOUND} more {name} (--json)[/]")


def _diagnostic(found: Diagnostic, source: _Lines, out: Console) -> None:
    note = found.message.startswith("note: ")
    colour, word = ("blue", "note") if note else ("red", "error")
    text = found.message.removeprefix("note: ")
    out.print(f"[{colour}]{word}[/] {_place(found.file, found.line)}{escape(text)}")
    if not note:
        _excerpt(source, found.file, found.line, colour, out)


def _finding(found: Violation | Advice, source: _Lines, out: Console) -> None:
    colour = _COLOURS[found.severity]
    place = _place(found.file, found.line)
    out.print(f"[{colour}]{found.severity} {escape(found.rule)}[/] {place}{escape(found.message)}")
    _excerpt(source, found.file, found.line, colour, out)
    if isinstance(found, Advice) and found.cycles_lost:
        out.print(f"    costs {found.cycles_lost:.0f} cycles", style="dim")
    if found.fix:
        out.print(f"    [green]fix:[/] {escape(found.fix)}")


def _race(race: Race, source: _Lines, out: Console) -> None:
    out.print(f"[red]race {escape(race.rule)}[/] {escape(race.message)}")
    for word, side in (("first", race.first), ("then", race.second)):
        out.print(f"    {word:5} {escape(side.pipe):4} {_place(side.file, side.line)}".rstrip(": "))
        _race_line(source, side, out)
    try:
        out.print(f"    [green]fix:[/] {escape(rules.get(race.rule).fix)}")
    except KeyError:
        pass  # an id the kernel's own process invented


def _race_line(source: _Lines, side: Side, out: Console) -> None:
    _excerpt(source, side.file, side.line, "red", out)


def _excerpt(source: _Lines, file: str | None, line: int | None, colour: str, out: Console) -> None:
    """The line, and a row of carets under its code."""
    text = source.get(file, line)
    if text is None:
        return
    code = one_line(text)
    out.print(f"    [dim]{line:5} |[/] {escape(code)}")
    out.print(f"    {'':5} [dim]|[/] [{colour}]{'^' * len(code)}[/]")


def _place(file: str | None, line: int | None) -> str:
    if file is None:
        return ""
    return f"[bold]{escape(file)}{f':{line}' if line else ''}[/]: "


def _printed(text: str, out: Console) -> None:
    lines = printable(text.rstrip("\n")).split("\n", _MOST_PRINTED)
    for line in lines[:_MOST_PRINTED]:
        out.print(f"[dim]|[/] {escape(line)}")
    if len(lines) > _MOST_PRINTED:
        out.print(f"[dim]and {lines[-1].count(chr(10)) + 1} more lines[/]")


def _cases(report: Report, out: Console) -> None:
    for case in report.cases[:_MOST_CASES]:
        if case.printed:
            _printed(case.printed, out)
        entry = case.verdict
        shapes = " ".join(
            f"{dtype}{shape}" for shape, dtype in zip(entry.shapes, entry.dtypes, strict=True)
        )
        word = {True: "[green]correct[/]", False: "[red]wrong[/]", None: "[dim]ran[/]"}[
            entry.correct
        ]
        error = ""
        if entry.max_abs is not None and entry.max_rel is not None:
            error = f"  max error {entry.max_abs:.3g} absolute, {entry.max_rel:.3g} relative"
        out.print(f"{word} {escape(case.name)} [dim]{escape(shapes)}[/]{error}")
        if case.summary:
            out.print(f"    {escape(case.summary)}")
    if len(report.cases) > _MOST_CASES:
        out.print(f"and {len(report.cases) - _MOST_CASES} more cases (--json)")


def _timing(report: Report, out: Console) -> None:
    timing = report.timing
    if timing is None:
        return
    verdict = report.verdict
    blocks = timing.op_summary.get("Block Dim", "?")
    out.print(
        f"[bold]{verdict.time_us:.2f} us[/] on {verdict.soc}, {blocks} blocks, "
        f"{timing.roofline.share:.0%} of the roofline ({timing.roofline.best_us:.2f} us)"
    )
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for title in ("pipe", "busy us", "wait us", "instructions"):
        table.add_column(title, justify="left" if title == "pipe" else "right")
    for name, times in timing.pipes.items():
        table.add_row(
            name, f"{times.busy_us:.2f}", f"{times.wait_us:.2f}", f"{times.instructions:.0f}"
        )
    out.print(table)
    out.print(f"[yellow]{timing.bottleneck.kind}-bound[/]: {escape(timing.bottleneck.why)}")
    if report.timing_note:
        out.print(f"[dim]{escape(report.timing_note)}[/]")


def _last_line(report: Report, out: Console) -> None:
    verdict = report.verdict
    word = "[bold green]ok[/]" if verdict.ok else "[bold red]not ok[/]"
    errors = sum(violation.severity == "error" for violation in verdict.violations)
    counted = _counts(
        (errors, "violation"),
        (len(verdict.violations) - errors, "warning"),
        (len(verdict.races), "race"),
    )
    spent = f"{verdict.seconds:.2f} s, {verdict.isolation}"
    out.print(f"{word} {escape(verdict.name)}{counted} [dim]({spent})[/]")


def _counts(*pairs: tuple[int, str]) -> str:
    words = [f"{count} {word}{'s' if count > 1 else ''}" for count, word in pairs if count]
    return f": {', '.join(words)}" if words else ""


class _Lines:
    """Lines of the project's sources, each file read once.

    A source chooses the names in reports by `#line`: only sources and headers that really lie in
    the project are shown.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known = ProjectFiles.of(root)
        self._files: dict[str, list[str]] = {}

    def get(self, file: str | None, line: int | None) -> str | None:
        if file is None or line is None:
            return None
        if file not in self._files:
            path = self._root / file
            try:
                text = self._known.read(path)
            except UsageError:
                text = b""
            self._files[file] = text.decode("utf-8", errors="replace").splitlines()
        lines = self._files[file]
        return lines[line - 1] if 0 < line <= len(lines) and lines[line - 1].strip() else None
