# SPDX-License-Identifier: Apache-2.0
"""The end of a benchmark: its files, its table, its comparison, and the exit status."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from npuforge.bench import report
from npuforge.bench.document import document
from npuforge.bench.report import snapshot
from npuforge.bench.report.compare import Comparison, compare
from npuforge.bench.report.compare_table import comparison_table
from npuforge.bench.report.run import Run, read
from npuforge.bench.select import matching
from npuforge.bench.settings import Settings
from npuforge.bench.store import Store
from npuforge.bench.suites import open_suite
from npuforge.cli.output import console, write_json
from npuforge.errors import UsageError
from npuforge.files import write_whole


@dataclass(frozen=True, slots=True)
class Ending:
    """Options about results: `keep` and `commit` of the snapshot, `before` and `threshold` of the
    comparison."""

    json_out: str | None
    keep: Path | None
    commit: str | None
    before: Run | None
    threshold: float

    def write(self, store: Store) -> int:
        """Write and print all that was asked for; return the exit status."""
        settings, tasks, attempts = store.settings, store.tasks, store.attempts()
        scores = open_suite(settings).scores(attempts)
        page = report.html(settings.suite, settings, tasks, attempts, scores, store.folder)
        _write(store.folder / "report.html", page)
        now = Run(store.folder.name, settings, tasks, attempts)
        comparison = self._compared(now)
        if self.keep is not None:
            name = self.commit or snapshot.current_commit()
            _write(self.keep, snapshot.render(settings, tasks, attempts, name))
        if self.json_out is not None:
            found = document(settings, tasks, attempts, scores)
            if comparison is not None:
                found["comparison"] = msgspec.to_builtins(comparison)
            write_json(_formatted(found), self.json_out)
        if self.json_out != "-":
            out = console(self.json_out)
            out.print(report.table(settings.suite, tasks, attempts, scores))
            out.print(f"{store.folder / 'report.html'}")
            if comparison is not None:
                out.print(comparison_table(comparison))
        if comparison is not None:
            return 1 if comparison.lost else 0
        return 0 if _all_passed(now) else 1

    def _compared(self, now: Run) -> Comparison | None:
        """Compare with the tasks of the earlier run that this one was asked for."""
        if self.before is None:
            return None
        return compare(_narrowed(self.before, now.settings), now, self.threshold)


def earlier(path: Path, suite: str) -> Run:
    """Read the run to compare with; `UsageError` where it is of another suite."""
    before = read(path)
    if before.settings.suite != suite:
        raise UsageError(f"{path} has results of {before.settings.suite}, not of {suite}")
    return before


def _narrowed(before: Run, settings: Settings) -> Run:
    chosen = (settings.tasks, settings.categories, settings.levels)
    tasks = matching(before.tasks, *chosen)
    names = {task.name for task in tasks}
    attempts = [attempt for attempt in before.attempts if attempt.task in names]
    return Run(before.name, before.settings, tasks, attempts)


def _all_passed(run: Run) -> bool:
    passed = {attempt.task for attempt in run.attempts if attempt.passed}
    return all(task.name in passed for task in run.tasks)


def _formatted(found: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(found)).decode()


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
