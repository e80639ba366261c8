# SPDX-License-Identifier: Apache-2.0
"""What the cases of an answer gave, and the attempt that comes of it.

Time is per case: the verdict has the first case's, `scores` the means.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from npuforge.bench.attempt import Attempt, Cheat, State
from npuforge.bench.cheats.kinds import once
from npuforge.bench.task import Task
from npuforge.eager import Baseline, compared
from npuforge.twin.timing.report import TimingReport
from npuforge.verdict import Advice, Case, Diagnostic, Race, Verdict, Violation

_T = TypeVar("_T")


@dataclass(slots=True)
class CaseOutcome:
    """`unusable`: the suite's own reference fails on the case, so nobody is judged on it.

    `scaled`: a smaller version was judged in its place.
    """

    number: int  # as the suite counts its cases
    case: Case
    published: bool | None = None
    strict: bool | None = None
    failure: str | None = None
    unplanned: bool = False
    unusable: bool = False
    scaled: bool = False
    timing: TimingReport | None = None
    baseline: Baseline | None = None


@dataclass(slots=True)
class Sample:
    """One answer: for all cases of a task, or for one where sizes are static."""

    parsed: bool = True
    compiled: bool | None = None
    cases: list[CaseOutcome] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    sound: bool = True  # our own cases hold, where there are some beside the suite's
    cheats: list[Cheat] = field(default_factory=list)
    problem: str | None = None  # why there are no cases, or what is wrong beside them
    isolation: str | None = None

    @property
    def usable(self) -> list[CaseOutcome]:
        return [case for case in self.cases if not case.unusable]

    @property
    def precise(self) -> bool:
        """The suite's check holds for every case."""
        return (
            self.compiled is True
            and bool(self.usable)
            and all(case.published is True for case in self.usable)
        )

    @property
    def strict(self) -> bool:
        broken = any(violation.severity == "error" for violation in self.violations)
        right = all(case.strict is True for case in self.usable)
        return self.compiled is True and right and self.sound and not broken and not self.races

    @property
    def reason(self) -> str | None:
        if self.compiled is False and self.diagnostics:
            return self.diagnostics[0].message
        for case in self.usable:
            if case.failure is not None:
                return f"case {case.number}: {case.failure}"
        if self.cheats:
            return f"cheat, {self.cheats[0].kind}: {self.cheats[0].evidence}"
        if self.problem is not None:
            return self.problem
        broken = [violation for violation in self.violations if violation.severity == "error"]
        if broken:
            return f"{broken[0].rule}: {broken[0].message}"
        return f"race: {self.races[0].message}" if self.races else None


def attempt_of(task: Task, number: int, samples: Sequence[Sample]) -> Attempt:
    """The attempt that these answers make together."""
    cases = [case for sample in samples for case in sample.cases]
    usable = [case for case in cases if not case.unusable]
    planned = [case for case in usable if not case.unplanned]
    honest = [sample for sample in samples if not sample.cheats]  # the others score nothing
    scores: dict[str, float | None] = {
        "samples": float(len(samples)),
        "parsed": float(sum(sample.parsed for sample in samples)),
        "compiled": float(sum(sample.compiled is True for sample in samples)),
        "precise": float(sum(sample.precise for sample in honest)),
        "cases": float(len(usable)),
        "cases_planned": float(len(planned)),
        "cases_scaled": float(sum(case.scaled for case in usable)),
        "cases_passed": float(
            sum(case.published is True for sample in honest for case in sample.usable)
        ),
        **_times(usable),
    }
    reason = next((sample.reason for sample in samples if sample.reason is not None), None)
    if cases and not usable:
        why = cases[0].failure or "no case can be judged"
        return none(task, number, "unusable", why, scores)
    if len(planned) < len(usable):
        first = next(case for case in usable if case.unplanned)
        count = f"{len(usable) - len(planned)} of {len(usable)} cases" if planned else "no case"
        told = f"{count} planned" if not planned else f"{count} not planned"
        attempt = none(task, number, "unplanned", f"{told}: {first.failure}", scores)
        return replace(attempt, verdict=replace(attempt.verdict, cases=[c.case for c in cases]))
    published = all(sample.precise for sample in samples)
    strict = all(sample.strict for sample in samples)
    compiled = all(sample.compiled is True for sample in samples)
    verdict = Verdict(
        task.name,
        compiled=compiled,
        diagnostics=[item for sample in samples for item in sample.diagnostics],
        violations=_once([item for sample in samples for item in sample.violations]),
        advice=_once([item for sample in samples for item in sample.advice]),
        races=_once([item for sample in samples for item in sample.races]),
        cases=[case.case for case in cases],
        isolation=next((s.isolation for s in samples if s.isolation is not None), None),
    )
    timed = next((case for case in usable if case.timing is not None), None)
    if timed is not None and timed.timing is not None:
        verdict = compared(replace(verdict, **timed.timing.verdict_fields()), timed.baseline)
    cheats = once([item for sample in samples for item in sample.cheats])
    if published and strict and not cheats:
        reason = None
    return Attempt(
        task.name,
        number,
        "judged",
        replace(verdict, correct=published and strict and not cheats),
        published,
        strict,
        cheats,
        reason,
        scores,
    )


def none(
    task: Task,
    number: int,
    state: State,
    reason: str,
    scores: dict[str, float | None] | None = None,
) -> Attempt:
    """An attempt without a judgement."""
    return Attempt(task.name, number, state, Verdict(task.name), reason=reason, scores=scores or {})


def _times(cases: Sequence[CaseOutcome]) -> dict[str, float | None]:
    """Means over the cases that have both figures; None where there is none."""
    pairs = [
        (case.timing.time_us, case.baseline.us)
        for case in cases
        if case.timing is not None and case.baseline is not None
    ]
    times = [case.timing.time_us for case in cases if case.timing is not None]
    return {
        "time_us_mean": statistics.fmean(times) if times else None,
        "baseline_us_mean": statistics.fmean(them for _, them in pairs) if pairs else None,
        "speedup_mean": statistics.geometric_mean(them / us for us, them in pairs)
        if pairs
        else None,
    }


def _once(items: Sequence[_T]) -> list[_T]:
    found: list[_T] = []
    for item in items:
        if item not in found:
            found.append(item)
    return found
