# SPDX-License-Identifier: Apache-2.0
"""The results of a commit as a small file to keep in git: one line a task, in the order of names.

Two runs of the same commit give the same text. It has no seconds, no folder of a machine and no
address of a model.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import get_args

import msgspec

from npuforge import __version__
from npuforge.bench.attempt import Attempt, Cheat, State
from npuforge.bench.report.command import command, public_settings
from npuforge.bench.report.words import plain, result
from npuforge.bench.settings import Settings
from npuforge.bench.task import Task
from npuforge.fileformat import BENCH_SNAPSHOT
from npuforge.keys import keyless
from npuforge.verdict import Race, Side, Verdict, Violation

_DIGITS = 6
_FOLDERS = re.compile(r"(?<![\w./])/(?:[^\s/:'\"]+/)+")


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One attempt; a field that is absent has its default, a figure that was not taken is absent.

    `result` is the word of the report, `violations`, `races` and `cheats` name rules and kinds.
    """

    task: str
    sample: int = 0
    category: str | None = None
    level: int | None = None
    result: str
    passed: bool
    compiled: bool | None = None
    correct: bool | None = None
    published: bool | None = None
    strict: bool | None = None
    time_us: float | None = None
    baseline_us: float | None = None
    baseline_source: str | None = None
    speedup: float | None = None
    violations: list[str] = []
    races: list[str] = []
    cheats: list[str] = []
    reason: str | None = None


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """`commit`, `npuforge` and `torch` say what made the results, `command` how."""

    format: int
    suite: str
    command: str
    commit: str | None
    npuforge: str
    torch: str
    settings: Settings
    tasks: list[Row]

    def attempts(self) -> list[Attempt]:
        """Return the attempts as far as they were kept."""
        return [_attempt(row) for row in self.tasks]

    def catalogue(self) -> list[Task]:
        """Return the tasks; their places are not known."""
        known = {
            row.task: Task(row.task, row.category or "", row.level, Path()) for row in self.tasks
        }
        return list(known.values())


def render(
    settings: Settings, tasks: Sequence[Task], attempts: Sequence[Attempt], commit: str | None
) -> str:
    """Return the text of the file."""
    known = {task.name: task for task in tasks}
    rows = [_row(attempt, known.get(attempt.task)) for attempt in attempts]
    made = Snapshot(
        format=BENCH_SNAPSHOT.number,
        suite=settings.suite,
        command=command(settings, public=True),
        commit=commit,
        npuforge=__version__,
        torch=version("torch"),
        settings=public_settings(settings),
        tasks=sorted(rows, key=lambda row: (row.task, row.sample)),
    )
    fields = [f'"{name}": {_line(value)}' for name, value in _shown(made).items()]
    lines = ",\n".join(f"    {_line(row)}" for row in made.tasks)
    return "{\n  " + ",\n  ".join(fields) + f',\n  "tasks": [\n{lines}\n  ]\n}}\n'


def parse(text: bytes, name: str) -> Snapshot:
    """Read the text; `UsageError` says that it is another format or none."""
    return BENCH_SNAPSHOT.decode(text, Snapshot, name)


def current_commit() -> str | None:
    """Return the commit of this package, with `-dirty` where the package differs from it.

    None where the package does not lie in a repository of its own.
    """
    try:
        _git("ls-files", "--error-unmatch", "__init__.py")
        changed = _git("status", "--porcelain", "--", ".")
        return _git("rev-parse", "HEAD") + ("-dirty" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*words: str) -> str:
    folder = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True, env=keyless()
    )
    return done.stdout.strip()


def _shown(made: Snapshot) -> dict[str, object]:
    names = [name for name in made.__struct_fields__ if name != "tasks"]
    return {name: getattr(made, name) for name in names}


def _line(value: object) -> str:
    """JSON on one line, with spaces after commas and colons."""
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()


def _row(attempt: Attempt, task: Task | None) -> Row:
    verdict = attempt.verdict
    return Row(
        task=attempt.task,
        sample=attempt.sample,
        category=verdict.category if task is None else task.category,
        level=verdict.level if task is None else task.level,
        result=result(attempt),
        passed=attempt.passed,
        compiled=verdict.compiled,
        correct=verdict.correct,
        published=attempt.published,
        strict=attempt.strict,
        time_us=_rounded(verdict.time_us),
        baseline_us=_rounded(verdict.baseline_us),
        baseline_source=verdict.baseline_source,
        speedup=_rounded(verdict.speedup),
        violations=sorted({v.rule for v in verdict.violations if v.severity == "error"}),
        races=sorted({race.rule for race in verdict.races}),
        cheats=sorted({cheat.kind for cheat in attempt.cheats}),
        reason=None if attempt.reason is None else _FOLDERS.sub("", plain(attempt.reason)),
    )


def _attempt(row: Row) -> Attempt:
    state: State = next((state for state in get_args(State) if state == row.result), "judged")
    nowhere = Side(None, None, "")
    verdict = Verdict(
        row.task,
        category=row.category,
        level=row.level,
        compiled=row.compiled,
        violations=[Violation(rule, "error", None, None, "") for rule in row.violations],
        races=[Race(rule, nowhere, nowhere, "") for rule in row.races],
        correct=row.correct,
        time_us=row.time_us,
        baseline_us=row.baseline_us,
        baseline_source=row.baseline_source,
        speedup=row.speedup,
        error=row.reason or row.result if row.result == "did not run" else None,
    )
    cheats = [Cheat(kind, "") for kind in row.cheats]
    return Attempt(
        row.task, row.sample, state, verdict, row.published, row.strict, cheats, row.reason
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")
