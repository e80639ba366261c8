# SPDX-License-Identifier: Apache-2.0
"""A run to look at: its folder, the JSON that `bench --json` wrote, or a snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from npuforge.bench.attempt import Attempt
from npuforge.bench.report import snapshot
from npuforge.bench.settings import Settings
from npuforge.bench.store import Store
from npuforge.bench.suite import Score
from npuforge.bench.task import Task
from npuforge.errors import UsageError
from npuforge.fileformat import BENCH_JSON
from npuforge.untrusted.documents import decode_json
from npuforge.untrusted.inputs import read_input
from npuforge.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Run:
    """`name` is what the user called it; JSON has only the tasks that were attempted."""

    name: str
    settings: Settings
    tasks: list[Task]
    attempts: list[Attempt]


_LIMIT = 1 << 30


class _Beginning(msgspec.Struct):
    """A snapshot has its command; what `bench --json` writes has none."""

    command: str | None = None


class _Document(msgspec.Struct):
    settings: Settings
    tasks: list[dict[str, Any]]
    scores: list[Score] = []


def read(path: Path) -> Run:
    """`UsageError` says why there is nothing to read."""
    if path.is_dir():
        with Store(path) as store:
            return Run(path.name, store.settings, store.tasks, store.attempts())
    text = read_input(path, _LIMIT)
    if _is_snapshot(text, path):
        kept = snapshot.parse(text, str(path))
        return Run(path.stem, kept.settings, kept.catalogue(), kept.attempts())
    found = BENCH_JSON.decode(text, _Document, path)
    try:
        attempts = [_attempt(entry) for entry in found.tasks]
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is not what bench --json writes: {error}") from None
    tasks = {attempt.task: _task(attempt) for attempt in attempts}
    return Run(path.stem, found.settings, list(tasks.values()), attempts)


def _is_snapshot(text: bytes, path: Path) -> bool:
    name = f"{path} is no {BENCH_JSON.kind}"
    return decode_json(text, _Beginning, name).command is not None


def _attempt(entry: dict[str, Any]) -> Attempt:
    """An attempt whose verdict lies flat beside its own fields."""
    return msgspec.convert({**entry, "verdict": msgspec.convert(entry, Verdict)}, Attempt)


def _task(attempt: Attempt) -> Task:
    verdict = attempt.verdict
    return Task(attempt.task, verdict.category or "", verdict.level, Path())
