# SPDX-License-Identifier: Apache-2.0
"""What the rows of a table gave."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from npuforge.bench.attempt import Cheat
from npuforge.eager import Baseline
from npuforge.generate import program
from npuforge.generate.proof import Proof
from npuforge.plan import Plan, Variant
from npuforge.spec.graph import Graph
from npuforge.twin.timing.report import TimingReport
from npuforge.verdict import Advice, Case, Diagnostic, Race, Violation


@dataclass(frozen=True, slots=True)
class Program:
    """A program for the rows of one signature; `proof` is how it did on cases of our own.

    `program` is None where none of the tried variants compiles: `diagnostics` say why.
    """

    graph: Graph
    plan: Plan
    variant: Variant
    program: program.Program | None
    proof: Proof
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def compiled(self) -> bool:
        return self.program is not None

    @property
    def disproved(self) -> bool:
        """Wrong on a case of our own, or against a rule; where none ran, nothing is shown."""
        tried = any(case.correct is not None for case in self.proof.cases)
        return (tried or self.proof.error is not None) and not self.proof.holds


@dataclass(slots=True)
class RowResult:
    """One row: `published` is the suite's check, `strict` ours; None where it did not come so far.

    `unplanned` says why there is no program for it, `unusable` why nobody could be judged on it
    (the reference itself fails), `error` why the program gave no result. `stood_in` is the smaller
    row that was checked for it.
    """

    number: int
    program: Program | None = None
    published: bool | None = None
    strict: bool | None = None
    case: Case | None = None
    message: str = ""
    figures: dict[str, float | None] = field(default_factory=dict)
    timing: TimingReport | None = None
    timing_note: str | None = None
    stood_in: int | None = None
    baseline: Baseline | None = None
    unplanned: str | None = None
    unusable: str | None = None
    error: str | None = None

    def begun(self, program: Program) -> None:
        """A program's turn: what an earlier one gave, which did not take the row, is forgotten."""
        assert self.case is not None
        fresh = RowResult(self.number, program, case=Case(self.case.shapes, self.case.dtypes))
        for kept in fields(self):
            setattr(self, kept.name, getattr(fresh, kept.name))

    @property
    def time_us(self) -> float | None:
        return self.timing.time_us if self.timing is not None else None

    @property
    def failure(self) -> str | None:
        """Why the row is no success, in a line."""
        if self.unplanned or self.unusable or self.error:
            return self.unplanned or self.unusable or self.error
        if self.published is False:
            return self.message or "the suite's check fails"
        if self.strict is False:
            return self.case.message if self.case and self.case.message else "wrong by our check"
        return None


@dataclass(slots=True)
class Solved:
    """All rows in the table's order, and what the launches of all programs showed together."""

    rows: list[RowResult] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    isolation: str | None = None
    broken: list[Diagnostic] = field(default_factory=list)  # what does not compile
    cheats: list[Cheat] = field(default_factory=list)

    def keep(self, found: Any) -> None:
        """Take the findings of a launch or a proof; each is said once."""
        for name in ("violations", "advice", "races"):
            store = getattr(self, name)
            store += [finding for finding in getattr(found, name) if finding not in store]
        self.isolation = found.isolation or self.isolation
