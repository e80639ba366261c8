# SPDX-License-Identifier: Apache-2.0
"""Which variant is fastest: each is built and timed on the twin, without data.

Time is modelled at the given shapes, up to sizes whose modelling takes too long; larger ones are
compared with fewer rows, and the winner alone is timed in full.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.generate.cases import fewer_rows, operand_shapes, operand_values
from npuforge.generate.events import CandidateTimed, Observer, silent
from npuforge.generate.program import Program
from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram
from npuforge.plan import Plan, Variant
from npuforge.sandbox import Limits
from npuforge.spec.graph import Graph
from npuforge.tile.source import TileError
from npuforge.twin.execute import RunResult
from npuforge.verdict import Diagnostic

_AT_ONCE = 2
_COMPARED_ELEMENTS = 100_000_000
_LIMITS = Limits(cpu_s=8.0, wall_s=20.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """A variant that was tried, or was not (`tried`).

    `time_us` is for `sizes`; `problem` says why there is none. `program` is None where the text
    does not compile as a tile program, and `diagnostics` then say what is wrong with it.
    """

    variant: Variant
    tried: bool
    program: Program | None = None
    time_us: float | None = None
    problem: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()


def tune(
    plan: Plan,
    graph: Graph,
    soc: str,
    budget_s: float,
    observer: Observer = silent,
    given: Callable[[], Mapping[str, HostTensor]] = dict,
) -> list[Trial]:
    """All variants in the plan's order. The first is always tried, others while there is time.

    `given` are inputs at the sizes asked for: programs that follow values are timed with them.
    """
    tuner = _Tuner(plan, graph, soc, time.monotonic() + budget_s, given)
    trials: dict[int, Trial] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        work = {
            pool.submit(tuner.attempt, variant, always=number == 0): number
            for number, variant in enumerate(plan.variants)
        }
        for done in as_completed(work):
            trial = done.result()
            trials[work[done]] = trial
            title, note = trial.variant.title, trial.problem
            event = CandidateTimed(title, trial.time_us, note, len(trials), len(work))
            observer(event)
    return [trials[number] for number in range(len(plan.variants))]


@dataclass(slots=True)
class _Tuner:
    plan: Plan
    graph: Graph
    soc: str
    deadline: float
    given: Callable[[], Mapping[str, HostTensor]]

    def attempt(self, variant: Variant, *, always: bool) -> Trial:
        if not always and time.monotonic() > self.deadline:
            return Trial(variant, tried=False, problem="the tuning budget was spent")
        try:
            program = TwinProgram(lower(variant.program, self.soc))
        except TileError as error:
            found = tuple(
                Diagnostic(f"{variant.title}.tile.py", f.span.line, f"{f.rule}: {f.message}")
                for f in error.findings
            )
            problem = f"does not compile: {found[0].message}"
            return Trial(variant, tried=True, problem=problem, diagnostics=found)
        if not program.build.ok:
            found = tuple(program.build.diagnostics)
            said = found[0].message if found else program.build.log
            problem = f"its AscendC does not compile: {said}"
            return Trial(variant, True, program, problem=problem, diagnostics=found)
        try:
            result = self.timed(program)
        except UsageError as error:
            return Trial(variant, True, program, problem=f"refuses the shapes: {error}")
        if result.error is not None or result.timing is None:
            problem = f"not timed: {result.error}"
            return Trial(variant, True, program, problem=problem)
        return Trial(variant, True, program, result.timing.time_us)

    def timed(self, program: Program) -> RunResult:
        follows = program.follows_values
        sizes = fewer_rows(self.graph, None if follows else _COMPARED_ELEMENTS)
        shapes = operand_shapes(self.plan, self.graph, sizes)
        values = operand_values(self.plan, self.given()) if follows else None
        return program.time(shapes, values=values, limits=_LIMITS)
