# SPDX-License-Identifier: Apache-2.0
"""Operators that models are evaluated on, and never trained on: those of the suites."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from npuforge.bench.settings import Settings
from npuforge.bench.suites import open_suite
from npuforge.bench.suites.npukernelbench.case_table import rows
from npuforge.bench.suites.npukernelbench.judged import ADAPTER
from npuforge.bench.suites.npukernelbench.smaller import elements, scaled
from npuforge.bench.tables import Table
from npuforge.bench.tables.programs import CapturedRow
from npuforge.bench.tables.session import TableSession
from npuforge.bench.task import Task
from npuforge.errors import NpuforgeError, UsageError
from npuforge.generate.live import LiveModule
from npuforge.generate.reference import WORKER, ModuleProcess
from npuforge.plan import CUBE
from npuforge.spec.session import ModuleSession, operator_name
from npuforge.untrusted.inputs import read_text

OWN = "forge"  # our own code: it need not be locked up
TABLES = ("npukernelbench",)
MODULES = (OWN, "kernelbench", "multikernelbench")
_TRIED = 4  # cases of a table


@dataclass(frozen=True, slots=True)
class Problem:
    """A task of a suite."""

    suite: str
    task: Task

    @property
    def name(self) -> str:
        return self.task.name

    @contextmanager
    def opened(self) -> Iterator[ModuleProcess]:
        """The module, captured in its sandbox; `UsageError` where it cannot be."""
        if self.suite in TABLES:
            with self._row() as module:
                yield module
        elif self.suite == OWN:
            text = read_text(self.task.place)
            with LiveModule.of_text(text, operator_name(self.task.place.stem)) as live:
                yield live
        else:
            with ModuleSession(self.task.place, then=WORKER, refused=CUBE) as session:
                yield session

    @contextmanager
    def _row(self) -> Iterator[ModuleProcess]:
        """The case of a table that has most elements of those that can be made, at sizes that are
        quick to compute: first cases often have a single element."""
        listed = rows(self.task.place / "validation" / "test_cases.csv")
        largest = sorted(listed, key=elements, reverse=True)[:_TRIED]
        name = operator_name(self.task.place.name)
        table = Table(name, ADAPTER, self.task.place, [scaled(row) for row in largest])
        with TableSession(table) as session:
            yield _captured(session)


def _captured(session: TableSession) -> CapturedRow:
    """The first row that can be captured; where there is none, what the first row said."""
    said: list[NpuforgeError] = []
    for row, described in enumerate(session.describe()):
        if described.error is not None:
            said.append(UsageError(described.error))
            continue
        try:
            return CapturedRow(session, row, *session.capture(row))
        except NpuforgeError as error:
            said.append(error)
    raise said[0] if said else UsageError("the table has no cases")


def problems(suite: str, path: Path | None = None) -> list[Problem]:
    """All tasks of a suite, read from the user's checkout."""
    if suite not in (*TABLES, *MODULES):
        raise UsageError(f"no evaluation on {suite!r}; suites: {', '.join((*TABLES, *MODULES))}")
    settings = Settings(suite=suite, path=str(path) if path is not None else None)
    return [Problem(suite, task) for task in open_suite(settings).tasks()]
