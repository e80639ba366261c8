# SPDX-License-Identifier: Apache-2.0
"""A generation on the screen: stages, candidates and cases as they come, then the summary."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from npuforge.cli.console import SafeConsole
from npuforge.generate.events import (
    CandidateTimed,
    CaseDone,
    Event,
    ProgramJudged,
    StageDone,
    StageStarted,
    Writing,
)
from npuforge.generate.outcome import Outcome
from npuforge.verdict import Case, Verdict

_DOING = {
    "capture": "capturing the module",
    "plan": "planning",
    "tune": "building and timing variants",
    "write": "asking",
    "prove": "proving",
    "time": "timing at the given shapes",
}
_WORDS = {True: "[green]correct[/]", False: "[red]wrong[/]", None: "[yellow]not run[/]"}


class Progress:
    """An observer that prints to standard error: a live line on a terminal, plain lines else."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._out = SafeConsole(stderr=True, quiet=quiet)
        self._live = Status("starting", console=self._out)
        self._started = time.monotonic()

    def __enter__(self) -> Progress:
        if self._out.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def __call__(self, event: Event) -> None:
        match event:
            case StageStarted(name, what):
                self._live.update(escape(" ".join([_DOING.get(name, name), what]).strip()))
            case StageDone(name, seconds, what):
                self._line(f"[bold]{name}[/] {escape(what)} [dim]{seconds:.1f} s[/]")
            case CandidateTimed(title, time_us, note, done, total):
                self._live.update(f"building and timing variants: {done} of {total}")
                said = f"{time_us:.2f} us" if time_us is not None else f"[yellow]{escape(note)}[/]"
                self._line(f"  variant {escape(title)}: {said}")
            case CaseDone(name, case, done, total):
                self._live.update(f"proving: {done} of {total} cases")
                self._line(f"  case {escape(_case(name, case))} {_WORDS[case.correct]}")

            case Writing(title, letters, tokens, cost):
                said = f"{title}: {letters} letters; {_spent(tokens, cost)}"
                self._live.update(escape(f"the model writes, {said}"))
            case ProgramJudged(title, said, time_us, tokens, cost):
                took = f", {time_us:.2f} us" if time_us is not None else ""
                spent = f"[dim]{_spent(tokens, cost)}[/]"
                self._line(f"[bold]{escape(title)}[/] {escape(said)}{took} {spent}")

    def _line(self, text: str) -> None:
        self._out.print(f"[dim]{time.monotonic() - self._started:5.1f}[/] {text}")


def _spent(tokens: int, cost: float | None) -> str:
    return f"{tokens} tokens" if cost is None else f"{tokens} tokens, {cost:.4g}"


def _case(name: str, case: Case) -> str:
    shapes = " ".join(
        f"{dtype}{shape}" for shape, dtype in zip(case.shapes, case.dtypes, strict=True)
    )
    return f"{name} {shapes}"


def summary(outcome: Outcome, place: Path, out: Console) -> None:
    """What came of it."""
    verdict = outcome.verdict
    for diagnostic in verdict.diagnostics:
        where = f"{diagnostic.file}:{diagnostic.line}: " if diagnostic.file else ""
        out.print(f"[red]error[/] {escape(where + diagnostic.message)}")
    for case in verdict.cases:
        if case.correct is not True and case.message:
            colour = "red" if case.correct is False else "yellow"
            out.print(f"[{colour}]{escape(case.message)}[/]")
    for violation in verdict.violations:
        colour = "red" if violation.severity == "error" else "yellow"
        out.print(f"[{colour}]{escape(violation.rule)}[/] {escape(violation.message)}")
    for race in verdict.races:
        out.print(f"[red]race {escape(race.rule)}[/] {escape(race.message)}")
    if verdict.error is not None:
        out.print(f"[bold red]error[/] {escape(verdict.error)}")
    for note in outcome.notes:
        out.print(f"[dim]{escape(note)}[/]")
    _time(outcome, out)
    _last_line(outcome, place, out)


def _time(outcome: Outcome, out: Console) -> None:
    verdict = outcome.verdict
    if verdict.time_us is None:
        return
    parts = [f"[bold]{verdict.time_us:.2f} us[/] on {verdict.soc}"]
    if verdict.roofline is not None:
        parts.append(f"{verdict.roofline:.0%} of the roofline")
    if verdict.bottleneck is not None:
        parts.append(f"{verdict.bottleneck}-bound")
    if verdict.baseline_us is not None and verdict.speedup is not None:
        known = f"eager {verdict.baseline_us:.2f} us ({verdict.baseline_source})"
        parts.append(f"[bold]{verdict.speedup:.2f}x[/] of {known}")
    out.print(", ".join(parts))


def _last_line(outcome: Outcome, place: Path, out: Console) -> None:
    verdict = outcome.verdict
    word = "[bold green]ok[/]" if verdict.ok else "[bold red]not ok[/]"
    variant = outcome.chosen.variant.title
    spent = f"{verdict.seconds:.1f} s" if verdict.seconds is not None else ""
    out.print(
        f"{word} {escape(verdict.name)} ({escape(variant)}): {_counted(verdict)}; "
        f"{escape(str(place))} [dim]({spent})[/]"
    )


def _counted(verdict: Verdict) -> str:
    if not verdict.compiled:
        return "does not compile"
    ran = [case for case in verdict.cases if case.correct is not None]
    right = sum(case.correct is True for case in ran)
    text = f"correct in {right} of {len(ran)} cases"
    if len(ran) < len(verdict.cases):
        text += f", {len(verdict.cases) - len(ran)} not run"
    errors = sum(violation.severity == "error" for violation in verdict.violations)
    return f"{text}, {errors} violations, {len(verdict.races)} races"
