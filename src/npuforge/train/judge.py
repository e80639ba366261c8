# SPDX-License-Identifier: Apache-2.0
"""The twin's judgement of a text that a model wrote for a module.

    with Bench(module) as bench:
        judged = bench.judge(answer)

One module, captured once, with its references computed once; any number of answers. Rewards,
preference pairs and evaluations all ask this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from npuforge.errors import UsageError
from npuforge.generate.cases import (
    ProofCase,
    all_smaller,
    choose,
    fewer_rows,
    operand_shapes,
    operand_values,
)
from npuforge.generate.lm.answer import own_operands, present_operands, program_in
from npuforge.generate.lm.prompt.canonical import OPERATOR, canonical
from npuforge.generate.lm.prompt.numbers import put_back
from npuforge.generate.proof import Proof, prove
from npuforge.generate.reference import WORKER, ModuleProcess, References
from npuforge.generate.written.signature import signature_of
from npuforge.lower.compiler import Lowered, lower
from npuforge.lower.on_twin import TwinProgram
from npuforge.plan import Plan
from npuforge.sandbox import Limits, Sandbox
from npuforge.scratch import scratch_folder
from npuforge.spec.graph import Graph
from npuforge.spec.session import ModuleSession
from npuforge.tile.source import TileError
from npuforge.twin.timing.report import TimingReport

_EVENLY, _ROWS = 30_000, 60_000  # elements of the two cases that stand for the given shapes
_ALSO = ("primes", "small")
_LIMITS = Limits(cpu_s=20.0, wall_s=60.0)
_MOST_TIMED = 100_000_000


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of an answer. `parsed`: the language accepts it and its tensors are those of the
    module; `compiled`: its AscendC builds; `correct`: every case is right, no rule broken, no race.
    `problem` is the first thing wrong; if not `isolated`, the answer could reach the user's files,
    and the judgement is neither a reward nor a record. `time_us` is there for what is correct, if
    it was asked for.
    """

    program: str
    parsed: bool = False
    compiled: bool = False
    correct: bool = False
    violations: int = 0
    time_us: float | None = None
    baseline_us: float | None = None  # the best that is known, where somebody said so
    problem: str = ""
    isolated: bool = field(default_factory=lambda: Sandbox.detect().protects_files)
    built: TwinProgram | None = field(default=None, compare=False, repr=False)
    plan: Plan | None = field(default=None, compare=False, repr=False)
    proof: Proof | None = field(default=None, compare=False, repr=False)
    timing: TimingReport | None = field(default=None, compare=False, repr=False)

    @property
    def accepted(self) -> tuple[Lowered, Plan]:
        """What the compiler made of it, where it made something."""
        assert self.built is not None
        assert self.plan is not None
        return self.built.lowered, self.plan


def few(graph: Graph) -> list[ProofCase]:
    """Four small cases: the given shapes in two ways, primes, and a handful of elements."""
    free = fewer_rows(graph, None)
    if not free:
        return [case for case in choose(graph) if case.values in {"own", "signed"}]
    whole = all_smaller(graph, _EVENLY)
    rows = fewer_rows(graph, _ROWS)
    # A module may take no smaller sizes: groups that divide the channels, windows that fit.
    return [
        ProofCase("evenly", (whole, rows, free), 0, given=True),
        ProofCase("rows", (rows, whole, free), 1, values="signed", perturbed=True, given=True),
        *(case for case in choose(graph) if case.name in _ALSO),
    ]


class Bench:
    """A module that answers are judged for, on one chip; `module` is captured already."""

    def __init__(
        self,
        module: ModuleProcess,
        soc: str = "910b2",
        cases: Sequence[ProofCase] | None = None,
        graph: Graph | None = None,
    ) -> None:
        """`graph` is the module's with other numbers as its example, where others are wanted."""
        self.module = module
        self.soc = soc
        self.graph = graph or module.graph
        self.canonical, self.names = canonical(self.graph)
        self.signature = signature_of(self.canonical)
        self.cases = list(few(self.graph) if cases is None else cases)

    @cached_property
    def references(self) -> References:
        return References(self.module, self.cases)

    def judge(self, answer: str, *, timed: bool = False) -> Judged:
        """The judgement of a whole answer, reasoning and all."""
        return self.judge_program(program_in(answer), timed=timed)

    def accepted(self, program: str) -> tuple[Lowered, Plan]:
        """What the compiler makes of a program whose tensors are the module's; `UsageError` says
        why it makes nothing."""
        try:
            lowered = lower(put_back(program, self.names.numbers), self.soc)
        except TileError as error:
            first = error.findings[0]
            raise UsageError(f"line {first.span.line}: {first.rule}: {first.message}") from error
        signature = present_operands(self.signature, lowered.program.host)
        departures = list(signature.departures(lowered.program.host))
        if departures:
            raise UsageError(departures[0])
        return lowered, Plan(signature.name, (), own_operands(signature.operands, self.names))

    def judge_program(self, program: str, *, timed: bool = False) -> Judged:
        try:
            lowered, plan = self.accepted(program)
        except (UsageError, RecursionError) as error:
            return Judged(program, problem=str(error) or type(error).__name__)
        return self.judge_built(program, TwinProgram(lowered), plan, timed=timed)

    def judge_built(
        self,
        program: str,
        built: TwinProgram,
        plan: Plan,
        *,
        timed: bool = False,
        briefly: bool = False,
    ) -> Judged:
        """The judgement of what the compiler accepted; `briefly` looks no further than to the first
        thing wrong."""
        if not built.build.ok:
            found = built.build.diagnostics
            said = found[0].message if found else "its AscendC does not compile"
            return Judged(program, parsed=True, problem=said, built=built)
        proof = prove(built, plan, self.graph, self.cases, self.references, briefly=briefly)
        broken = sum(violation.severity == "error" for violation in proof.violations)
        if not proof.holds:
            return Judged(
                program,
                parsed=True,
                compiled=True,
                violations=broken,
                problem=proof.failure,
                built=built,
                plan=plan,
                proof=proof,
            )
        timing = self.time(built, plan) if timed else None
        return Judged(
            program,
            parsed=True,
            compiled=True,
            correct=True,
            time_us=timing.time_us if timing is not None else None,
            built=built,
            plan=plan,
            proof=proof,
            timing=timing,
        )

    def time(self, built: TwinProgram, plan: Plan) -> TimingReport | None:
        """The modelled time at the given shapes, or with fewer rows where they are very large."""
        follows = built.follows_values
        sizes = fewer_rows(self.graph, None if follows else _MOST_TIMED)
        values = operand_values(plan, self.references.given()) if follows else None
        try:
            shapes = operand_shapes(plan, self.graph, sizes)
            return built.time(shapes, values=values, limits=_LIMITS).timing
        except UsageError:
            return None


@contextmanager
def locked_up(module: str) -> Iterator[ModuleProcess]:
    """The module of a text that may come from anywhere, in a sandbox."""
    with scratch_folder("task") as place:
        file = place / f"{OPERATOR}.py"
        file.write_text(module, "utf-8")
        with ModuleSession(file, then=WORKER) as session:
            yield session


class TwinJudge:
    """Judges answers to tasks whose `task` has the module's text and the best time known. Modules
    run locked up, as tasks may come from anywhere, and stay open for a while, as many answers to
    one come in a row."""

    _KEPT = 4

    def __init__(self) -> None:
        self._open: dict[str, tuple[Bench, ExitStack]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._open.popitem()[1][1].close()

    def judge(self, task: dict[str, Any], text: str) -> Judged:
        judged = self._bench(str(task["module"])).judge(text, timed=True)
        return replace(judged, baseline_us=task.get("best_us"))

    def _bench(self, module: str) -> Bench:
        if module not in self._open:
            while len(self._open) >= self._KEPT:
                self._open.pop(next(iter(self._open)))[1].close()
            stack = ExitStack()
            session = stack.enter_context(locked_up(module))
            self._open[module] = (Bench(session), stack)
        return self._open[module][0]
