# SPDX-License-Identifier: Apache-2.0
"""Run a program on every case in check mode and judge all it leaves, updated inputs included."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.generate.cases import ProofCase, shape_of
from npuforge.generate.events import CaseDone, Observer, silent
from npuforge.generate.judge import judge
from npuforge.generate.program import Program
from npuforge.generate.reference import Answer, References
from npuforge.plan import Plan
from npuforge.spec.graph import Graph
from npuforge.twin.execute import RunResult
from npuforge.twin.numerics import Comparison
from npuforge.verdict import Advice, Case, Race, Violation

_AT_ONCE = 2


@dataclass(slots=True)
class Proof:
    """What all cases showed; `error` is a failure to run one."""

    cases: list[Case] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    error: str | None = None
    isolation: str | None = None

    @property
    def correct(self) -> bool:
        """Every case that ran is right, and there is one."""
        known = [case.correct for case in self.cases if case.correct is not None]
        return bool(known) and all(known)

    @property
    def refuted(self) -> bool:
        """A wrong case, a broken rule, a race or a failure: no further case can mend it."""
        wrong = any(case.correct is False for case in self.cases)
        broken = any(violation.severity == "error" for violation in self.violations)
        return wrong or broken or bool(self.races) or self.error is not None

    @property
    def holds(self) -> bool:
        """Correct, with no broken rule, no race, no failure."""
        return self.correct and not self.refuted

    @property
    def failure(self) -> str:
        """Why it does not hold, in a line."""
        if self.error is not None:
            return self.error
        for case in self.cases:
            if case.correct is False:
                return case.message or "wrong"
        if self.races:
            return f"race: {self.races[0].message}"
        broken = [violation for violation in self.violations if violation.severity == "error"]
        if broken:
            return f"{broken[0].rule}: {broken[0].message}"
        return "no case could be run"


@dataclass(frozen=True, slots=True)
class _Ran:
    case: Case
    result: RunResult | None = None
    error: str | None = None


def prove(
    program: Program,
    plan: Plan,
    graph: Graph,
    cases: Sequence[ProofCase],
    references: References,
    observer: Observer = silent,
    *,
    briefly: bool = False,
) -> Proof:
    """The proof of `program` over `cases`; case numbers are those of `references`. `briefly` ends
    with what refutes it: for those who ask whether it holds, not what all is wrong with it."""
    proof = Proof(violations=list(program.build.violations))
    prover = _Prover(program, plan, graph, references)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        each = map if briefly else pool.map
        for number, ran in enumerate(each(prover.run, range(len(cases)), cases)):
            proof.cases.append(ran.case)
            if ran.error is not None:
                proof.error = proof.error or f"{cases[number].name}: {ran.error}"
            if ran.result is not None:
                _keep(proof.violations, ran.result.violations)
                _keep(proof.advice, ran.result.advice)
                _keep(proof.races, ran.result.races)
                proof.isolation = ran.result.isolation
            observer(CaseDone(cases[number].name, ran.case, number + 1, len(cases)))
            if briefly and proof.refuted:
                break
    return proof


def _keep(store: list[Any], found: Sequence[Any]) -> None:
    """Cases repeat what they find; each thing is said once."""
    store += [finding for finding in found if finding not in store]


@dataclass(frozen=True, slots=True)
class _Prover:
    program: Program
    plan: Plan
    graph: Graph
    references: References

    def run(self, number: int, case: ProofCase) -> _Ran:
        answer = self.references.answer(number)
        inputs = [n for n, source in enumerate(self.graph.sources) if source.origin == "input"]
        types = [self.graph.sources[number].type for number in inputs]
        shapes = [shape_of(kind, case.options[0]) for kind in types]
        if answer.error is None:
            shapes = [answer.sources[number].shape for number in inputs]
        entry = Case([list(shape) for shape in shapes], [kind.dtype for kind in types])
        if answer.error is not None:
            said = f"the module gives no result: {answer.error}"
            return self._refused(case, entry, said)
        try:
            result = self.program.launch(self._inputs(answer), mode="check")
        except UsageError as error:
            return self._refused(case, entry, f"not supported: {error}")
        if result.error is not None:
            failed = _entry(entry, False, message=f"{case.name}: {result.error}")
            return _Ran(failed, result, result.error)
        return _Ran(self._judged(case, entry, answer, result), result)

    def _refused(self, case: ProofCase, entry: Case, why: str) -> _Ran:
        """A case without a result: it counts against the program only if it was asked for."""
        message = f"{case.name}: {why}"
        if case.given:
            return _Ran(_entry(entry, False, message=message), error=why)
        return _Ran(_entry(entry, None, message=message))

    def _inputs(self, answer: Answer) -> dict[str, HostTensor]:
        places = {source.name: place for place, source in enumerate(self.graph.sources)}
        return {
            operand.name: answer.sources[places[operand.source]]
            for operand in self.plan.operands
            if operand.source is not None
        }

    def _judged(self, case: ProofCase, entry: Case, answer: Answer, result: RunResult) -> Case:
        compared: list[Comparison] = []
        problems: list[str] = []
        by_result = {operand.result: operand.name for operand in self.plan.operands}
        for number, want in enumerate(answer.results):
            title = self.graph.results[number].mutates or f"result {number}"
            name = by_result.get(number)
            if name is None:
                problems.append(f"{title} is not computed")
                continue
            got = result.tensors[name]
            if got.dtype != want.dtype:
                problems.append(f"{title} is {got.dtype.name} instead of {want.dtype.name}")
                continue
            found = judge(got, want, answer.golden[number], result.unwritten.get(name, 0))
            compared.append(found)
            if not found.correct:
                problems.append(f"{title}: {found.summary}")
        said = "; ".join([*([answer.note] if answer.note else []), *problems])
        return _entry(
            entry,
            not problems,
            [found.max_abs for found in compared],
            [found.max_rel for found in compared],
            f"{case.name}: {said}" if said else case.name,
        )


def _entry(
    case: Case,
    correct: bool | None,
    absolute: Sequence[float | None] = (),
    relative: Sequence[float | None] = (),
    message: str | None = None,
) -> Case:
    return Case(case.shapes, case.dtypes, correct, _largest(absolute), _largest(relative), message)


def _largest(values: Sequence[float | None]) -> float | None:
    """None (not finite) wins: it is the worst."""
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None
