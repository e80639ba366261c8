# SPDX-License-Identifier: Apache-2.0
"""The suite: tasks of a checkout, answers of a folder, of the suite itself or of a strategy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from npuforge.bench.attempt import Attempt
from npuforge.bench.settings import REFERENCE, Settings
from npuforge.bench.suite import Score
from npuforge.bench.suites import checkout
from npuforge.bench.suites.npukernelbench import answers, known
from npuforge.bench.suites.npukernelbench.case_table import rows
from npuforge.bench.suites.npukernelbench.judged import AnswerJudge
from npuforge.bench.suites.npukernelbench.planned import planned
from npuforge.bench.suites.npukernelbench.scoring import WEIGHTS, scores
from npuforge.bench.suites.npukernelbench.smaller import scaled
from npuforge.bench.tables import Row, spread
from npuforge.bench.tables.outcome import Sample, attempt_of, none
from npuforge.bench.task import Task
from npuforge.bench.writers import pen
from npuforge.errors import UsageError

_FILES = ("module.py", "pybind.cpp", "test_cases.csv")
_STATIC_CASES = 1  # the suite's own number of cases with answers of their own


def open_suite(settings: Settings) -> NpuKernelBench:
    """`UsageError` says what is wrong with the checkout or the settings."""
    if settings.interface == "kernel" and settings.answers is None:
        raise UsageError("strategies write whole operators: --interface kernel goes with --answers")
    if settings.interface == "kernel" and settings.answers == REFERENCE:
        raise UsageError("the suite's own answers are whole operators: use --interface full")
    if settings.shapes == "v0":
        raise UsageError("npukernelbench has one set of shapes: --shapes current or scaled")
    return NpuKernelBench(settings, _tasks(checkout(settings)))


def _tasks(path: Path) -> list[Task]:
    found: list[Task] = []
    for folder in sorted((path / "tasks").glob("level*/*/*")):
        level = re.fullmatch(r"level(\d+)", folder.parts[-3])
        if level is None or not folder.is_dir() or not (folder / "validation").is_dir():
            continue
        if int(level.group(1)) not in WEIGHTS:
            continue
        name = "/".join(folder.parts[-3:])
        found.append(Task(name, folder.parts[-2], int(level.group(1)), folder.resolve()))
    if not found:
        raise UsageError(f"no tasks of NPUKernelBench in {path}: tasks/level*/CATEGORY/OPERATOR")
    return found


@dataclass(frozen=True, slots=True)
class NpuKernelBench:
    """Each task is an operator with a table of cases."""

    settings: Settings
    listed: Sequence[Task]

    def tasks(self) -> list[Task]:
        return list(self.listed)

    def scores(self, attempts: Sequence[Attempt]) -> list[Score]:
        levels = {task.name: task.level for task in self.listed if task.level is not None}
        each = (self.settings.cases or _STATIC_CASES) if self._static else 1
        return scores(attempts, levels, each)

    def attempt(self, task: Task, sample: int, place: Path) -> Attempt:
        """Write or find the answers of a sample and judge them on the task's cases."""
        try:
            cases = self._cases(task)
        except UsageError as error:
            return none(task, sample, "unusable", str(error))
        counted: dict[str, float | None] = {
            "samples": float(len(cases)) if self._static else 1.0,
            "cases": float(len(cases)),
        }
        match self.settings.answers:
            case None:
                attempt = self._planned(task, sample, cases, place)
            case str() as folder:
                why = known.refused_answer(task)
                if why is not None:
                    return none(task, sample, "unusable", why)
                attempt = (
                    self._reference(task, sample, cases)
                    if folder == REFERENCE
                    else self._given(Path(folder), task, sample, cases, place)
                )
        return replace(attempt, scores={**counted, **attempt.scores})

    @property
    def _static(self) -> bool:
        return self.settings.sizes == "static"

    def _cases(self, task: Task) -> list[Row]:
        """The cases to judge by; with static sizes the first ones, each with its own answer."""
        folder = task.place / "validation"
        lacking = [name for name in _FILES if not (folder / name).is_file()]
        if lacking:
            raise UsageError(f"the task has no {lacking[0]}")
        table = rows(folder / "test_cases.csv")
        if self.settings.shapes == "scaled":
            table = [scaled(row) for row in table]
        if self._static:
            wanted = range(self.settings.cases or _STATIC_CASES)
            return [row for row in table if row["case_id"] in wanted]
        return spread(table, self.settings.cases)

    def _planned(self, task: Task, sample: int, cases: list[Row], place: Path) -> Attempt:
        chip = self.settings.soc
        try:
            with pen(self.settings, sample, place) as held:
                found = planned(task, cases, held.writer, chip, place, static=self._static)
        except UsageError as error:
            return none(task, sample, "unusable", str(error))
        attempt = attempt_of(task, sample, found)
        kept = {"answer": "answer"} if (place / "answer").is_dir() else {}
        return replace(attempt, files={**held.files, **kept}, tokens=held.tokens)

    def _reference(self, task: Task, sample: int, cases: list[Row]) -> Attempt:
        why = known.broken(task)
        if why is not None:
            return none(task, sample, "unusable", f"the suite's answer is broken: {why}")
        project = task.place / "answer" / str(sample)
        if not project.is_dir():
            return none(task, sample, "missing", "the suite has no answer")
        unfit, _ = known.broken_cases(task)
        kept = [row for row in cases if row["case_id"] not in unfit]
        judge = AnswerJudge(task, self.settings.soc, self._static, reference=True)
        try:
            groups = [[row] for row in kept] if self._static else [kept]
            attempt = attempt_of(task, sample, [judge.judge(project, group) for group in groups])
        except UsageError as error:
            return none(task, sample, "unusable", str(error))
        rules = {v.rule for v in attempt.verdict.violations if v.severity == "error"}
        rules |= {race.rule for race in attempt.verdict.races}
        explained = known.defect(task, rules) if attempt.published and rules else None
        return replace(attempt, reason=explained or attempt.reason)

    def _given(
        self, folder: Path, task: Task, sample: int, cases: list[Row], place: Path
    ) -> Attempt:
        judge = AnswerJudge(task, self.settings.soc, self._static)
        found: list[Sample] = []
        groups = [[row] for row in cases] if self._static else [cases]
        for group in groups:
            case = int(group[0]["case_id"]) if self._static else None
            answer = answers.find(folder, task, sample, case)
            if answer is None:
                found.append(Sample(parsed=False, compiled=False, problem="no answer"))
                continue
            kept = place / "answer" / ("" if case is None else f"fixed_case_{case}")
            kept.mkdir(parents=True, exist_ok=True)
            try:
                project = answers.project_of(answer, task, self.settings.interface, kept)
            except answers.UnreadableAnswerError as error:
                found.append(Sample(compiled=False, problem=str(error)))
                continue
            try:
                found.append(judge.judge(project, group))
            except UsageError as error:
                return none(task, sample, "unusable", str(error))
        if not any(one.parsed for one in found):
            return none(task, sample, "missing", "no answer")
        return replace(attempt_of(task, sample, found), files={"answer": "answer"})
