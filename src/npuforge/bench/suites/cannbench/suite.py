# SPDX-License-Identifier: Apache-2.0
"""CANN Bench as a suite: an attempt is one operator with all of its cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from npuforge.bench.attempt import Attempt, State
from npuforge.bench.settings import REFERENCE, Settings
from npuforge.bench.suite import Score
from npuforge.bench.suites import checkout as users_checkout
from npuforge.bench.suites.cannbench import answers, checkout, protocol, rows, score, times
from npuforge.bench.tables import RowResult, Solved, StandIn, Table, solve, spread
from npuforge.bench.tables.smaller import elements
from npuforge.bench.task import Task
from npuforge.bench.writers import pen
from npuforge.errors import UsageError
from npuforge.lower.formats.model import ModelShape
from npuforge.untrusted.inputs import read_source
from npuforge.verdict import Case, Verdict

_ADAPTER = Path(__file__).with_name("adapter.py")
_FULL = 100.0


@dataclass(frozen=True, slots=True)
class _Judged:
    """A case with its row's result and what it is compared with."""

    case: checkout.Case
    row: RowResult
    anchor: times.Anchor
    scaled: bool

    @property
    def hap(self) -> float | None:
        return self._hap(self.anchor.baseline_us)

    @property
    def cut_hap(self) -> float | None:
        """With the baseline as the suite's file cuts it off."""
        return self._hap(self.anchor.cut_us)

    @property
    def accurate(self) -> bool:
        return self.row.published is True

    @property
    def ran(self) -> bool:
        """No failure but that of a number."""
        row = self.row
        failed = row.unplanned or row.error or row.unusable
        return failed is None and not row.figures.get("structural")

    def _hap(self, baseline_us: float | None) -> float | None:
        if self.scaled:  # the bound is that of the full shapes
            return None
        return score.hap(self.row.time_us, baseline_us, self.anchor.bound_us)


class CannBench:
    """See `npuforge.bench.suite.Suite`."""

    def __init__(self, settings: Settings, place: Path) -> None:
        self.settings = settings
        self.place = place

    @staticmethod
    def open(settings: Settings) -> CannBench:
        """`UsageError` where there is no such checkout."""
        if settings.shapes == "v0":
            raise UsageError("cannbench has one set of shapes: --shapes current or scaled")
        if settings.answers == REFERENCE:
            raise UsageError("cannbench brings no answers of its own")
        return CannBench(settings, users_checkout(settings))

    def tasks(self) -> list[Task]:
        found = []
        for folder in checkout.folders(self.place):
            operator = checkout.read_operator(folder)
            found.append(Task(operator.path, operator.category, operator.level, folder))
        return found

    @cached_property
    def times(self) -> Mapping[str, checkout.Times]:
        return checkout.read_times(self.place, self.settings.soc)

    def attempt(self, task: Task, sample: int, place: Path) -> Attempt:
        operator = checkout.read_operator(task.place)
        cases = spread(operator.cases, self.settings.cases)
        if not cases:
            raise UsageError(f"{task.name} has no cases")
        table = self._table(operator, cases, task.place)
        tokens: int | None = None
        if self.settings.answers is not None:
            answer = answers.find(self.settings.answers, operator, sample)
            if answer is None:
                return Attempt(task.name, sample, "missing", Verdict(task.name), reason="no answer")
            solved = answers.judge(answer, table, self.settings.soc)
        else:
            with pen(self.settings, sample, place) as held:
                solved = solve(
                    table,
                    held.writer,
                    soc=self.settings.soc,
                    candidates=protocol.load().here.tuned,
                )
                tokens = held.tokens
        judged = [
            _Judged(
                case,
                row,
                times.anchor(
                    operator,
                    case,
                    self.times.get(f"{operator.path}/{case.number}"),
                    self.settings.soc,
                ),
                self.settings.shapes == "scaled",
            )
            for case, row in zip(cases, solved.rows, strict=True)
        ]
        files = _written(solved, place)
        return replace(_attempt(task, sample, solved, judged, files), tokens=tokens)

    def scores(self, attempts: Sequence[Attempt]) -> list[Score]:
        return totals(attempts)

    def _table(
        self, operator: checkout.Operator, cases: Sequence[checkout.Case], place: Path
    ) -> Table:
        """Every case as a row; then smaller versions of those that are large."""
        here = protocol.load().here
        full = [rows.row(operator, case) for case in cases]
        if self.settings.shapes == "scaled":
            full = [next(iter(rows.scaled(row, here.checked_elements)), row) for row in full]
        every: list[dict[str, Any]] = list(full)
        stand_ins: dict[int, StandIn] = {}
        for number, row in enumerate(full):
            smaller = rows.scaled(row, here.checked_elements)
            if smaller:
                options = tuple(range(len(every), len(every) + len(smaller)))
                instead = elements(row["shapes"]) > here.judged_elements
                stand_ins[number] = StandIn(options, instead)
                every += smaller
        name = operator.path.rsplit("/", 1)[-1]
        texts = [place / file for file in ("proto.yaml", "golden.py")]
        text = "\n".join(f"# {file.name}\n{read_source(file)}" for file in texts if file.is_file())
        return Table(name, _ADAPTER, place, every, stand_ins=stand_ins, text=text)


def totals(attempts: Sequence[Attempt]) -> list[Score]:
    """Sums over operators; the first sample of each counts, as one submission has one answer."""
    first = [attempt for attempt in attempts if attempt.sample == 0]
    found = [
        _total(f"level {level}", [a for a in first if a.verdict.level == level], "score")
        for level in sorted({a.verdict.level for a in first if a.verdict.level is not None})
    ]
    found.append(_total("total", first, "score", "operators judged one by one"))
    broken = [attempt.task for attempt in first if attempt.verdict.compiled is False]
    whole = found[-1]
    found.append(
        Score(
            "total as one submission",
            0.0 if broken else whole.value,
            whole.of,
            f"{broken[0]} does not compile, which zeroes a submission"
            if broken
            else "no operator fails to compile",
        )
    )
    note = "baselines cut off at ten times the bound, as in the suite's file"
    found.append(_total("total, baselines as published", first, "score_cut", note))
    return found


def _total(name: str, attempts: Sequence[Attempt], key: str, note: str = "") -> Score:
    known = [attempt.scores.get(key) for attempt in attempts]
    return Score(name, math.fsum(value or 0.0 for value in known), _FULL * len(attempts), note)


def _attempt(
    task: Task, sample: int, solved: Solved, judged: list[_Judged], files: dict[str, str]
) -> Attempt:
    state = _state(judged)
    broken = any(violation.severity == "error" for violation in solved.violations)
    compiled = None if state in ("unplanned", "unusable") else not solved.broken
    published = all(one.accurate for one in judged) if state == "judged" else None
    strict: bool | None = None
    if state == "judged":
        proven = not any(program.disproved for program in solved.programs)
        right = all(one.row.strict for one in judged)
        strict = right and proven and not broken and not solved.races
    timed = [one for one in judged if one.row.time_us]
    compared = [one for one in timed if one.anchor.baseline_us]
    time_us = _mean([one.row.time_us for one in timed])
    baseline_us = _mean([one.anchor.baseline_us for one in compared])
    speedup = _mean([_ratio(one) for one in compared])
    verdict = Verdict(
        task.name,
        compiled=compiled,
        diagnostics=solved.broken,
        violations=solved.violations,
        advice=solved.advice,
        races=solved.races,
        cases=[_case(one) for one in judged],
        correct=None if published is None else bool(published and strict and not solved.cheats),
        time_us=time_us,
        baseline_us=baseline_us,
        baseline_source=_source(compared),
        speedup=speedup,
        isolation=solved.isolation,
        error=_error(judged) if state == "judged" else None,
    )
    return Attempt(
        task.name,
        sample,
        state,
        verdict,
        published=published,
        strict=strict,
        cheats=solved.cheats,
        reason=_reason(judged, solved),
        scores=_scores(judged, counts=compiled is not False and not solved.cheats),
        files=files,
    )


def _state(judged: Sequence[_Judged]) -> State:
    if all(one.row.unplanned for one in judged):
        return "unplanned"
    if all(one.row.unplanned or one.row.unusable for one in judged):
        return "unusable"
    return "judged"


def _scores(judged: Sequence[_Judged], *, counts: bool) -> dict[str, float | None]:
    """The operator's own figures; the mean of HAP is over cases that are right. What does not
    compile, or cheats, scores nothing."""
    right = [one for one in judged if one.accurate]
    haps = [one.hap for one in right if one.hap is not None]
    cases = [score.CaseScore(one.ran, one.accurate, one.hap) for one in judged]
    cut = [score.CaseScore(one.ran, one.accurate, one.cut_hap) for one in judged]
    return {
        "score": score.operator(counts, cases),
        "score_cut": score.operator(counts, cut),
        "accuracy": len(right) / len(judged),
        "hap": math.fsum(haps) / len(haps) if haps else None,
        "cases": float(len(judged)),
        "cases_unplanned": float(sum(one.row.unplanned is not None for one in judged)),
        "cases_scaled": float(sum(one.row.stood_in is not None for one in judged)),
    }


def _case(one: _Judged) -> Case:
    """A case of the verdict; its message says all that a reader must know about it."""
    row = one.row
    known = row.case or Case([], [])
    said = [f"case {one.case.number}"]
    if row.failure:
        said.append(row.failure)
    if row.published is False and row.strict:
        said.append("right by our check")
    if row.stood_in is not None and row.program is not None:
        said.append("scaled down for checks")
    if row.time_us is not None:
        said.append(_timed(one))
    right = None if row.published is None else bool(row.published and row.strict)
    failed = row.unplanned or row.error
    correct = False if failed else right
    message = "; ".join(said)
    return Case(known.shapes, known.dtypes, correct, known.max_abs, known.max_rel, message)


def _timed(one: _Judged) -> str:
    parts = [f"{one.row.time_us:.2f} us"]
    anchor = one.anchor
    if anchor.baseline_us is not None:
        parts.append(f"baseline {anchor.baseline_us:.2f} us ({anchor.source})")
    if anchor.bound_us is not None:
        parts.append(f"bound {anchor.bound_us:.2f} us")
    if one.hap is not None:
        parts.append(f"HAP {one.hap:.3f}")
    if one.row.timing_note:
        parts.append(one.row.timing_note)
    return ", ".join(parts)


def _reason(judged: Sequence[_Judged], solved: Solved) -> str | None:
    """Why this is no success, in a line."""
    failed = [(one, one.row.failure) for one in judged if one.row.failure]
    if failed:
        one, said = failed[0]
        count = f"{len(failed)} of {len(judged)} cases" if len(failed) > 1 else "a case"
        return f"{count}, first case {one.case.number}: {said}"
    if solved.cheats:
        return f"cheat, {solved.cheats[0].kind}: {solved.cheats[0].evidence}"
    if solved.races:
        return f"race: {solved.races[0].message}"
    broken = [violation for violation in solved.violations if violation.severity == "error"]
    if broken:
        return f"{broken[0].rule}: {broken[0].message}"
    for program in solved.programs:
        if program.disproved:
            wrong = [case.message for case in program.proof.cases if case.correct is False]
            return f"on inputs of our own: {program.proof.error or (wrong or ['wrong'])[0]}"
    return None


def _error(judged: Sequence[_Judged]) -> str | None:
    for one in judged:
        if one.row.unplanned or one.row.error:
            return f"case {one.case.number}: {one.row.unplanned or one.row.error}"
    return None


def _mean(values: Sequence[float | None]) -> float | None:
    """The geometric mean: cases differ in size by orders of magnitude."""
    known = [value for value in values if value]
    return math.exp(math.fsum(map(math.log, known)) / len(known)) if known else None


def _ratio(one: _Judged) -> float | None:
    if one.row.time_us and one.anchor.baseline_us:
        return one.anchor.baseline_us / one.row.time_us
    return None


def _source(compared: Sequence[_Judged]) -> str | None:
    if not compared:
        return None
    proxies = any(one.anchor.source == "proxy" for one in compared)
    return "proxy" if proxies else "measured"


def _written(solved: Solved, place: Path) -> dict[str, str]:
    """Every program that was judged, as an operator project; its path by what it is."""
    found: dict[str, str] = {}
    for number, program in enumerate(solved.programs):
        if program.program is None:  # it does not compile
            continue
        folder = place / "answer" / f"program{number}"
        for path, text in program.program.files("msopgen", ModelShape.of).items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        found["answer"] = "answer"
    return found
