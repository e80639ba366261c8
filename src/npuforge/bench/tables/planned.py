# SPDX-License-Identifier: Apache-2.0
"""What a strategy's programs gave, as samples of an answer; and the programs as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from npuforge.bench.tables.outcome import CaseOutcome, Sample
from npuforge.bench.tables.result import Program, RowResult, Solved
from npuforge.lower.formats.model import ModelShape
from npuforge.verdict import Case


def sample_of(solved: Solved, cases: Sequence[int]) -> Sample:
    """The programs together as one answer; `cases` are the suite's numbers of the rows."""
    return _sample(solved, solved.rows, solved.programs, cases)


def samples_of(solved: Solved, cases: Sequence[int]) -> list[Sample]:
    """Each row with its own program as an answer of its own."""
    return [
        _sample(solved, [row], [row.program] if row.program is not None else [], cases)
        for row in solved.rows
    ]


def write(solved: Solved, folder: Path, form: str) -> None:
    """Every program in a folder of its own: the program itself, and what it is lowered to."""
    for number, program in enumerate(solved.programs):
        files = {"program.tile.py": program.variant.program}
        if program.program is not None:
            files |= program.program.files(form, ModelShape.of)
        for path, text in files.items():
            file = folder / f"program{number}" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")


def _sample(
    solved: Solved,
    results: Sequence[RowResult],
    programs: Sequence[Program],
    cases: Sequence[int],
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
        sample.cases.append(_case(result, cases[result.number]))
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
