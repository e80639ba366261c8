# SPDX-License-Identifier: Apache-2.0
"""The suite: `reference/<category>/<task>.py` of the user's checkout.

Most tasks are modules with one set of inputs. Some have many, which lie in a JSON file beside the
task: a strategy writes programs for their cases row by row; answers of others are modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from npuforge.bench.attempt import Attempt
from npuforge.bench.modules.protocol import load
from npuforge.bench.modules.suite import ModuleSuite
from npuforge.bench.settings import Settings
from npuforge.bench.suite import Score
from npuforge.bench.suites import checkout
from npuforge.bench.suites.multikernelbench import groups
from npuforge.bench.tables import Table, planned, solve, spread
from npuforge.bench.tables.outcome import attempt_of, none
from npuforge.bench.task import Task
from npuforge.bench.writers import pen
from npuforge.errors import UsageError
from npuforge.spec.session import operator_name
from npuforge.untrusted.inputs import read_source

_ADAPTER = Path(__file__).with_name("adapter.py")
_PROTOCOL = Path(__file__).with_name("protocol.toml")
# The suite times the first case alone: the cost model's favourite is taken as it is.
_CANDIDATES = 1


def open_suite(settings: Settings) -> MultiKernelBench:
    """The suite of a checkout."""
    folder = checkout(settings) / "reference"
    tasks = [
        Task(f"{file.parent.name}/{file.stem}", file.parent.name, None, file.resolve())
        for file in sorted(folder.glob("*/*.py"))
        if not file.name.startswith("_")
    ]
    if not tasks:
        raise UsageError(f"{folder} has no tasks: is it a checkout of MultiKernelBench?")
    tables = {task.name: found for task in tasks if (found := groups.lines(task.place))}
    counts = {name: len(lines) for name, lines in tables.items()}
    return MultiKernelBench(ModuleSuite(settings, load(_PROTOCOL), tasks, counts), tables)


@dataclass(frozen=True, slots=True)
class MultiKernelBench:
    """`tables` has the cases of each task that has many."""

    modules: ModuleSuite
    tables: dict[str, list[str]]

    def tasks(self) -> list[Task]:
        return self.modules.tasks()

    def scores(self, attempts: Sequence[Attempt]) -> list[Score]:
        return self.modules.scores(attempts)

    def attempt(self, task: Task, sample: int, place: Path) -> Attempt:
        settings = self.modules.settings
        lines = self.tables.get(task.name)
        if lines is None or settings.answers is not None:
            return self.modules.attempt(task, sample, place)
        if settings.shapes == "v0":
            return none(task, sample, "unusable", "not in the suite's first release")
        chosen = spread(list(enumerate(lines)), settings.cases)
        try:
            with pen(settings, sample, place) as held:
                solved = solve(
                    self._table(task, chosen), held.writer, soc=settings.soc, candidates=_CANDIDATES
                )
        except UsageError as error:
            return none(task, sample, "unusable", str(error))
        planned.write(solved, place / "answer", "msopgen")
        numbers = [number for number, _ in chosen]
        attempt = attempt_of(task, sample, [planned.sample_of(solved, numbers)])
        kept = {"answer": "answer"} if (place / "answer").is_dir() else {}
        return replace(attempt, files={**held.files, **kept}, tokens=held.tokens)

    def _table(self, task: Task, chosen: Sequence[tuple[int, str]]) -> Table:
        settings, protocol = self.modules.settings, self.modules.protocol
        rows = groups.rows(chosen, protocol.seed, protocol.tolerance(settings, "default"))
        if settings.shapes == "scaled":
            rows = [next(iter(groups.smaller(row)), row) for row in rows]
        every, stand_ins = groups.with_stand_ins(rows)
        name = operator_name(task.place.stem)
        text = read_source(task.place)
        return Table(name, _ADAPTER, task.place, every, stand_ins=stand_ins, text=text)
