# SPDX-License-Identifier: Apache-2.0
"""What a suite is to the rest: tasks, attempts at them, and its own way of counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from npuforge.bench.attempt import Attempt
from npuforge.bench.task import Task


@dataclass(frozen=True, slots=True)
class Score:
    """A figure of a suite's own, for the report: `of` is the best there is, where there is one."""

    name: str
    value: float | None
    of: float | None = None
    note: str = ""


class Suite(Protocol):
    """Made from `Settings`; `UsageError` says what is wrong with a checkout."""

    def tasks(self) -> list[Task]:
        """All tasks, in the order they are run and shown."""
        ...

    def attempt(self, task: Task, sample: int, place: Path) -> Attempt:
        """Write or find an answer and judge it. Files worth keeping go to the folder `place`."""
        ...

    def scores(self, attempts: Sequence[Attempt]) -> list[Score]:
        """The suite's own totals over a whole run."""
        ...
