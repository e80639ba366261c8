# SPDX-License-Identifier: Apache-2.0
"""A benchmark on the screen: a line for each attempt as it ends, and the score so far."""

from __future__ import annotations

from types import TracebackType

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from npuforge.bench.attempt import Attempt
from npuforge.bench.store import Store
from npuforge.bench.worker import Job
from npuforge.cli.console import SafeConsole

_WORDS = {
    "unplanned": "[yellow]unplanned[/]",
    "missing": "[yellow]missing[/]",
    "unusable": "[yellow]unusable[/]",
    "crashed": "[red]crashed[/]",
    "timeout": "[red]timeout[/]",
}


class BenchProgress:
    """Prints to standard error: a bar on a terminal, plain lines always."""

    def __init__(self, store: Store, *, quiet: bool = False) -> None:
        self._out = SafeConsole(stderr=True, quiet=quiet)
        done = store.attempts()
        self._passed = sum(attempt.passed for attempt in done)
        self._ended = len(done)
        self._running: dict[str, None] = {}
        self._bar = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=self._out,
            disable=not self._out.is_terminal,
        )
        total = len(store.tasks) * store.settings.samples
        self._row = self._bar.add_task("", total=total, completed=len(done))

    def __enter__(self) -> BenchProgress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def started(self, job: Job) -> None:
        self._running[job.task.name] = None
        self._show()

    def ended(self, attempt: Attempt) -> None:
        self._running.pop(attempt.task, None)
        self._ended += 1
        self._passed += attempt.passed
        self._out.print(line(attempt))
        self._bar.advance(self._row)
        self._show()

    def _show(self) -> None:
        share = f"{self._passed / self._ended:.0%}" if self._ended else "-"
        names = ", ".join(self._running)
        self._bar.update(self._row, description=f"{self._passed} passed ({share}) {escape(names)}")


def line(attempt: Attempt) -> str:
    """An attempt in a line."""
    word = _WORDS.get(attempt.state) or ("[green]pass[/]" if attempt.passed else "[red]FAIL[/]")
    verdict = attempt.verdict
    parts = []
    if verdict.time_us is not None:
        parts.append(f"{verdict.time_us:.2f} us")
    if verdict.speedup is not None:
        parts.append(f"{verdict.speedup:.2f}x of eager ({verdict.baseline_source})")
    if attempt.lost:
        parts.append(f"lost {attempt.lost} times with its worker")
    if attempt.reason:
        parts.append(escape(attempt.reason))
    if verdict.seconds is not None:
        parts.append(f"[dim]{verdict.seconds:.0f} s[/]")
    number = f" #{attempt.sample}" if attempt.sample else ""
    return f"{word} {escape(attempt.task)}{number}: {', '.join(parts)}"
