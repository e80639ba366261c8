# SPDX-License-Identifier: Apache-2.0
"""A suite whose tasks are modules: what MultiKernelBench, KernelBench and forge share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from npuforge.bench.attempt import Attempt, State
from npuforge.bench.modules import answers, files
from npuforge.bench.modules.judge import ModuleJudge, opened
from npuforge.bench.modules.protocol import ModuleProtocol
from npuforge.bench.modules.writing import Written, write
from npuforge.bench.settings import REFERENCE, Settings
from npuforge.bench.suite import Score
from npuforge.bench.task import Task
from npuforge.eager import baseline, compared
from npuforge.errors import NpuforgeError, UsageError
from npuforge.spec.graph import Graph
from npuforge.spec.session import ModuleSession
from npuforge.verdict import Verdict

_TIMING = ("time_us", "roofline", "bottleneck", "pipes")


@dataclass(frozen=True, slots=True)
class ModuleSuite:
    """Tasks are files; answers are modules with kernels, or operators alone. `groups` says, by the
    task's name, how many lists of inputs `get_input_groups` gives where there is one."""

    settings: Settings
    protocol: ModuleProtocol
    listed: Sequence[Task]
    groups: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        answers = self.settings.answers
        if answers == REFERENCE:
            raise UsageError(f"{self.settings.suite} has no answers of its own")
        if answers is not None and not Path(answers).is_dir():
            raise UsageError(f"no such folder: {answers}")
        if self.settings.shapes == "v0" and self.protocol.first_release is None:
            raise UsageError(f"{self.settings.suite} has one set of shapes")

    def tasks(self) -> list[Task]:
        return list(self.listed)

    def scores(self, attempts: Sequence[Attempt]) -> list[Score]:  # noqa: ARG002 (none of its own)
        return []

    def attempt(self, task: Task, sample: int, place: Path) -> Attempt:
        """Write or find an answer, judge it, compare its time with eager PyTorch's."""
        try:
            file, graph = self._file(task, place)
        except NpuforgeError as error:
            return _none(task, sample, "unusable", str(error))
        if self.settings.answers is None:
            return self._planned(task, sample, file, place)
        found = answers.find(Path(self.settings.answers), task, sample)
        if found is None:
            return _none(task, sample, "missing", "no answer")
        kept = place / f"answer{found.suffix if found.is_file() else ''}"
        answers.copy(found, kept)
        left = {"answer": kept.name, "log": "log.txt"}
        source = opened(kept, task, sample, self.settings.soc, self.protocol.seed)
        if isinstance(source, Attempt):
            return replace(source, files=left)
        graph = graph or _captured(file)
        attempt = self._judge(task, file, graph).judge(source, sample, timed=True)
        known = baseline(graph, self.settings.soc) if graph is not None else None
        return replace(attempt, verdict=compared(attempt.verdict, known), files=left)

    def _judge(self, task: Task, file: Path, graph: Graph | None) -> ModuleJudge:
        groups = self.groups.get(task.name)
        return ModuleJudge(task, file, self.protocol, self.settings, graph, groups)

    def _planned(self, task: Task, sample: int, file: Path, place: Path) -> Attempt:
        try:
            written = write(file, self.settings, sample, place)
        except UsageError as error:
            return _none(task, sample, "unplanned", str(error))
        if written.answer is None:
            verdict = replace(written.outcome.verdict, name=task.name, correct=False)
            first = verdict.diagnostics[0].message if verdict.diagnostics else verdict.error
            files = {**written.files, "log": "log.txt"}
            return Attempt(
                task.name,
                sample,
                "judged",
                verdict,
                False,
                False,
                reason=first,
                tokens=written.tokens,
                files=files,
            )
        source = opened(written.answer, task, sample, self.settings.soc, self.protocol.seed)
        if isinstance(source, Attempt):
            return _with_proof(source, written)
        judge = self._judge(task, file, written.outcome.graph)
        return _with_proof(judge.judge(source, sample, timed=False), written)

    def _file(self, task: Task, place: Path) -> tuple[Path, Graph | None]:
        """The task's file at the shapes asked for, and its graph where it is known already."""
        match self.settings.shapes:
            case "v0":
                commit = self.protocol.first_release
                assert commit is not None
                return files.at_commit(task.place, commit, place), None
            case "scaled":
                graph = _captured(task.place)
                if graph is None:
                    return task.place, None
                file = files.scaled(task.place, graph, place)
                return file, graph if file == task.place else None
        return task.place, None


def _captured(file: Path) -> Graph | None:
    """None where the module cannot be captured: it is then judged at its own sizes alone."""
    try:
        with ModuleSession(file) as session:
            return session.graph
    except NpuforgeError:
        return None


def _with_proof(attempt: Attempt, written: Written) -> Attempt:
    """The judgement on the answer, with what generating it found out: more cases, and the time."""
    proof = written.outcome.verdict
    verdict = attempt.verdict
    sound = proof.ok and proof.correct is True
    reason = attempt.reason
    if not sound and reason is None:
        wrong = [case.message for case in proof.cases if case.correct is False]
        reason = f"its own proof fails: {proof.error or (wrong or ['rules broken'])[0]}"
    verdict = replace(
        verdict,
        cases=[*verdict.cases, *proof.cases],
        violations=verdict.violations
        + [v for v in proof.violations if v not in verdict.violations],
        races=verdict.races + [race for race in proof.races if race not in verdict.races],
        correct=verdict.correct is True and sound,
        baseline_us=proof.baseline_us,
        baseline_source=proof.baseline_source,
        speedup=proof.speedup,
        **{name: getattr(proof, name) for name in _TIMING},
    )
    strict = attempt.strict is True and sound
    files = {**written.files, "log": "log.txt"}
    tokens = written.tokens
    return replace(
        attempt, verdict=verdict, strict=strict, reason=reason, files=files, tokens=tokens
    )


def _none(task: Task, sample: int, state: State, reason: str) -> Attempt:
    return Attempt(task.name, sample, state, Verdict(task.name), reason=reason)
