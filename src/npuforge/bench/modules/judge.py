# SPDX-License-Identifier: Apache-2.0
"""Judges an answer to a module's task: by the suite's protocol, by ours, and for cheats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from npuforge.bench.attempt import Attempt, Cheat
from npuforge.bench.cheats.kinds import cheat
from npuforge.bench.modules import cheating
from npuforge.bench.modules.answer import Answer, Ran
from npuforge.bench.modules.checks import Check, checks
from npuforge.bench.modules.compare import published_case, strict_case
from npuforge.bench.modules.project_answer import ProjectAnswer
from npuforge.bench.modules.protocol import ModuleProtocol
from npuforge.bench.modules.python_answer import PythonAnswer
from npuforge.bench.modules.reference import References, compute
from npuforge.bench.settings import Settings
from npuforge.bench.tables import spread
from npuforge.bench.task import Task
from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.sandbox.shared_folder import SharedFolder
from npuforge.scratch import scratch_folder
from npuforge.spec.graph import Graph
from npuforge.twin.sources.direct import total
from npuforge.twin.sources.model_answer import ModelAnswer
from npuforge.twin.timing.report import TimingReport
from npuforge.verdict import Case, Verdict, Violation


def opened(answer: Path, task: Task, sample: int, soc: str, seed: int) -> Answer | Attempt:
    """The answer, compiled; an attempt that failed where it is none or does not compile."""
    failed = Attempt(
        task.name, sample, "judged", Verdict(task.name, compiled=False, correct=False), False, False
    )
    try:
        source: Answer = (
            ProjectAnswer.open(answer, soc=soc)
            if answer.is_dir()
            else PythonAnswer(ModelAnswer.open(answer, soc=soc), soc, seed)
        )
    except UsageError as error:
        verdict = replace(failed.verdict, error=str(error))
        return replace(failed, verdict=verdict, reason=str(error))
    built = source.build()
    if built.ok:
        return source
    verdict = replace(failed.verdict, diagnostics=list(built.diagnostics))
    first = built.diagnostics[0].message if built.diagnostics else "does not compile"
    return replace(failed, verdict=verdict, reason=first)


@dataclass(slots=True)
class _Judged:
    cases: list[Case] = field(default_factory=list)
    published: list[bool] = field(default_factory=list)
    strict: list[bool] = field(default_factory=list)
    fresh: list[bool] = field(default_factory=list)
    cheats: list[Cheat] = field(default_factory=list)

    @property
    def credited(self) -> bool:
        """By the suite's own check."""
        return bool(self.published) and all(self.published)


@dataclass(frozen=True, slots=True)
class ModuleJudge:
    """For one task; `graph` is the task captured, where that is possible."""

    task: Task
    file: Path
    protocol: ModuleProtocol
    settings: Settings
    graph: Graph | None
    groups: int | None = None

    def judge(self, source: Answer, sample: int, *, timed: bool) -> Attempt:
        """The attempt; with its time where it is `timed` and its tensors are not too large."""
        name = self.task.name
        groups = spread(range(self.groups or 0), self.settings.cases)
        wanted = checks(self.graph, self.protocol, groups)
        with scratch_folder("bench") as place, SharedFolder(place) as folder:
            try:
                references = compute(
                    self.file,
                    wanted,
                    self.graph,
                    self.protocol,
                    folder,
                    state=source.takes_state,
                )
            except UsageError as error:
                verdict = Verdict(name, error=str(error))
                return Attempt(name, sample, "unusable", verdict, reason=str(error))
            ran = source.run(references, "check")
            judged = self._compared(references, ran.given)
            judged.cheats += source.cheats(ran, references)
            if judged.credited:
                judged.cheats += cheating.in_values(references, ran.given)
            timings: list[TimingReport] = []
            if timed and not wanted[0].sizes and ran.error is None:
                again = source.run(references, "time")
                timings = again.seen.timings
                judged.cheats += source.timed_otherwise(ran, again)
            found = self._attempt(source, sample, ran, judged)
        return replace(found, verdict=replace(found.verdict, **total(timings)))

    def _compared(self, references: References, given: list[list[HostTensor]]) -> _Judged:
        found = _Judged()
        for place, check in enumerate(references.checks):
            number = references.number(place)
            if number is None:
                found.cases.append(Case([], [], None, message=_refused(check, references, place)))
                continue
            got = given[number] if number < len(given) else []
            inputs, want = references.inputs(place), references.outputs(place)
            golden = references.golden(place)
            if check.kind == "published":
                case = published_case(
                    check, inputs, want, golden, got, self.protocol, self.settings
                )
                found.published.append(case.correct is True)
            else:
                case = strict_case(check, inputs, want, golden, got)
                (found.strict if check.kind == "strict" else found.fresh).append(
                    case.correct is True
                )
            found.cases.append(case)
        if found.credited and not all(found.fresh):
            failed = next(c for c in found.cases if (c.message or "").startswith("fresh"))
            found.cheats.append(cheat("tested-shapes-only", failed.message or ""))
        return found

    def _attempt(
        self,
        source: Answer,
        sample: int,
        ran: Ran,
        judged: _Judged,
    ) -> Attempt:
        seen = ran.seen
        refused = source.kernel_diagnostics()
        verdict = Verdict(
            self.task.name,
            compiled=not refused,
            diagnostics=refused,
            violations=_joined(source.lint(), seen.violations),
            advice=seen.advice,
            races=seen.races,
            cases=judged.cases,
            isolation=ran.isolation,
            error=ran.error or (None if seen.calls else "the model launched no kernel"),
        )
        published = judged.credited and seen.calls > 0
        cheats = judged.cheats
        strict = (
            all([*judged.strict, *judged.fresh])
            and verdict.error is None
            and not verdict.races
            and not any(v.severity == "error" for v in verdict.violations)
        )
        correct = published and strict and not cheats
        return Attempt(
            self.task.name,
            sample,
            "judged",
            replace(verdict, correct=correct),
            published,
            strict,
            cheats,
            None if correct else _reason(verdict, cheats),
        )


def _refused(check: Check, references: References, place: int) -> str:
    return f"{check.name}: not defined by the task: {references.refusal(place)}"


def _joined(first: Sequence[Violation], second: Sequence[Violation]) -> list[Violation]:
    return [*first, *(item for item in second if item not in first)]


def _reason(verdict: Verdict, cheats: Sequence[Cheat]) -> str:
    if verdict.diagnostics:
        return verdict.diagnostics[0].message
    if cheats:
        return f"cheat, {cheats[0].kind}: {cheats[0].evidence}"
    if verdict.error is not None:
        return verdict.error
    for case in verdict.cases:
        if case.correct is False:
            return case.message or "wrong"
    broken = [v for v in verdict.violations if v.severity == "error"]
    if broken:
        return f"{broken[0].rule}: {broken[0].message}"
    return f"race: {verdict.races[0].message}" if verdict.races else "wrong"
