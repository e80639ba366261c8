# SPDX-License-Identifier: Apache-2.0
"""A strategy's programs for a task's table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from npuforge.bench.suites.npukernelbench.judged import ADAPTER
from npuforge.bench.suites.npukernelbench.outcome import CaseOutcome, Sample
from npuforge.bench.suites.npukernelbench.smaller import smaller
from npuforge.bench.tables import Program, Row, RowResult, Solved, StandIn, Table, solve
from npuforge.bench.task import Task
from npuforge.generate import strategies
from npuforge.lower.formats import emit
from npuforge.spec.session import operator_name
from npuforge.verdict import Case

# The suite's score does not look at time: the cost model's favourite is taken as it is.
_CANDIDATES = 1


def planned(
    task: Task, rows: Sequence[Row], strategy: str, soc: str, place: Path, *, static: bool
) -> list[Sample]:
    """One sample for the table, or one for each row where sizes are static."""
    fewer = {number: found for number, row in enumerate(rows) if (found := smaller(row))}
    stand_ins = {
        number: StandIn((len(rows) + place,), instead=True) for place, number in enumerate(fewer)
    }
    every = [*rows, *fewer.values()]
    name = operator_name(task.place.name)
    table = Table(name, ADAPTER, task.place, every, stand_ins=stand_ins)
    planner = strategies.find(strategy)
    solved = solve(table, planner, soc=soc, static=static, candidates=_CANDIDATES)
    for number, program in enumerate(solved.programs):
        _write(program, place / "answer" / f"program{number}")
    if not static:
        return [_sample(solved, solved.rows, solved.programs, rows)]
    return [
        _sample(solved, [row], [row.program] if row.program is not None else [], rows)
        for row in solved.rows
    ]


def _write(program: Program, folder: Path) -> None:
    files = {"program.tile.py": program.variant.program}
    if program.program is not None:
        files |= emit(program.program.lowered, "npukb")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


def _sample(
    solved: Solved,
    results: Sequence[RowResult],
    programs: Sequence[Program],
    rows: Sequence[Row],
) -> Sample:
    sample = Sample(
        parsed=all(result.unplanned is None for result in results),
        compiled=bool(programs) and all(program.compiled for program in programs),
        diagnostics=[d for program in programs for d in program.diagnostics],
        violations=solved.violations,
        advice=solved.advice,
        races=solved.races,
        isolation=solved.isolation,
    )
    for result in results:
        sample.cases.append(_case(result, int(rows[result.number]["case_id"])))
    for program in programs:
        wrong = [c for c in program.proof.cases if c.correct is False]
        if program.proof.error is not None or wrong:
            sample.sound = False
            told = program.proof.error or (wrong[0].message if wrong else None) or "wrong"
            sample.problem = f"on cases of our own: {told}"
    return sample


def _case(result: RowResult, number: int) -> CaseOutcome:
    assert result.case is not None
    failure = result.failure
    judged = result.published is not None
    correct = bool(result.published and result.strict) if judged or result.error else None
    case = Case(
        result.case.shapes,
        result.case.dtypes,
        correct,
        result.case.max_abs,
        result.case.max_rel,
        failure,
    )
    return CaseOutcome(
        number,
        case,
        result.published,
        result.strict,
        failure,
        unplanned=result.unplanned is not None,
        unusable=result.unusable is not None,
        scaled=result.stood_in is not None,
        timing=result.timing,
        baseline=result.baseline,
    )
