# SPDX-License-Identifier: Apache-2.0
"""All rows of a table: a program for each, its run on the twin, both judgements, its time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from npuforge.bench.tables.programs import RowWriter, sizes_of
from npuforge.bench.tables.result import Program, RowResult, Solved
from npuforge.bench.tables.session import Described, Made, RequestError, TableSession
from npuforge.bench.tables.table import StandIn, Table
from npuforge.dtypes import HostTensor
from npuforge.eager import baseline
from npuforge.errors import NpuforgeError, UsageError
from npuforge.generate.cases import operand_shapes
from npuforge.generate.judge import judge
from npuforge.generate.writer import Writer
from npuforge.sandbox import GIB, Limits
from npuforge.spec.graph import Graph
from npuforge.twin.execute import Mode, RunResult
from npuforge.verdict import Case

# Suites have rows of gigabytes; a result must not depend on how busy the machine is.
LAUNCH_LIMITS = Limits(cpu_s=1200.0, wall_s=7200.0, memory_bytes=12 * GIB)


def solve(
    table: Table,
    writer: Writer,
    *,
    soc: str = "910b2",
    static: bool = False,
    candidates: int = 1,
) -> Solved:
    """Every row of the table; `static` gives each a program of its own.

    `UsageError` where the adapter cannot open the task.
    """
    with TableSession(table) as session:
        solver = _Solver(session, RowWriter(session, writer, soc, candidates), soc, static)
        smaller = {n for stand_in in table.stand_ins.values() for n in stand_in.options}
        for number, described in enumerate(session.describe()):
            if number not in smaller:
                solver.row(number, described)
        return solver.solved


@dataclass(slots=True)
class _Known:
    """A program, with the row it was captured from."""

    key: str
    row: int
    program: Program


@dataclass(slots=True)
class _Solver:
    session: TableSession
    writer: RowWriter
    soc: str
    static: bool
    solved: Solved = field(default_factory=Solved)
    known: list[_Known] = field(default_factory=list)
    inputs: dict[str, HostTensor] = field(default_factory=dict)  # of the row that ran last

    def row(self, number: int, described: Described) -> None:
        types = [tensor.dtype for tensor in described.tensors]
        shapes = [list(tensor.shape) for tensor in described.tensors]
        result = RowResult(number, case=Case(shapes, types))
        self.solved.rows.append(result)
        if described.error is not None:
            result.unusable = f"no arguments: {described.error}"
            return
        for known in reversed(self.known):
            if self.static or known.key != described.key:
                continue
            if sizes_of(known.program.graph, shapes) is not None and self.ran(result, known):
                return
        known_program = self.written(result, described)
        if known_program is not None and not self.ran(result, known_program):
            result.error = result.error or "the program refuses the shapes it was planned for"

    def written(self, result: RowResult, described: Described) -> _Known | None:
        """A new program, with this row as its example."""
        try:
            program = self.writer.write(result.number)
        except RequestError as error:  # no graph: perhaps for want of a device
            result.unusable = self.broken(result.number)
            result.unplanned = str(error) if result.unusable is None else None
            return None
        except NpuforgeError as error:  # no plan, or one that is no program
            result.unplanned = str(error)
            return None
        self.solved.programs.append(program)
        self.solved.broken += program.diagnostics
        self.solved.keep(program.proof)
        if program.program is not None:
            build = program.program.build
            found = build.violations
            self.solved.violations += [v for v in found if v not in self.solved.violations]
        known = _Known(described.key, result.number, program)
        self.known.append(known)
        return known

    def broken(self, number: int) -> str | None:
        """Why nobody can be judged on the row; None where its reference runs."""
        stand_in = self.session.table.stand_ins.get(number)
        told: str | None = None
        for row in stand_in.options if stand_in is not None else (number,):
            try:
                self.session.make(row, None)
            except RequestError as error:
                told = told or f"the reference fails: {error}"
            else:
                return None
        return told

    def ran(self, result: RowResult, known: _Known) -> bool:
        """Run and judge the row; False where the program does not take its sizes."""
        program = known.program
        result.begun(program)
        if program.program is None:
            told = program.diagnostics[0].message if program.diagnostics else "it does not compile"
            result.error = told
            return True
        taken = judge_row(
            result,
            self.session.table.stand_ins.get(result.number),
            lambda found, row, mode: self.judged(found, known, row, mode),
        )
        if taken and result.error is None and result.unusable is None:
            try:
                self.time(result)
            except UsageError as error:  # it takes the smaller row that stood in, but not this one
                result.error = f"not supported: {error}"
                return False
        return taken

    def judged(self, result: RowResult, known: _Known, row: int, mode: Mode) -> bool:
        """Run `row` and judge it for `result`; False where the program does not take its sizes."""
        program = known.program
        assert program.program is not None
        try:
            made = self.session.make(row, known.row)
        except RequestError as error:
            result.unusable = f"the reference fails: {error}"
            return True
        sources = [self.session.read(item) for item in made.sources]
        places = {source.name: place for place, source in enumerate(program.graph.sources)}
        inputs = {
            operand.name: sources[places[operand.source]]
            for operand in program.plan.operands
            if operand.source is not None
        }
        try:
            launched = program.program.launch(inputs, mode=mode, limits=LAUNCH_LIMITS)
        except UsageError as error:
            result.error = f"not supported: {error}"
            return False
        self.solved.keep(launched)
        result.error = launched.error
        if launched.error is None:
            self.judge(result, row, made, launched, ours=mode == "check")
        if row == result.number:
            self.inputs = inputs
        return True

    def judge(
        self, result: RowResult, row: int, made: Made, launched: RunResult, *, ours: bool
    ) -> None:
        """By the suite's check, and by `ours`."""
        program = result.program
        assert program is not None
        assert result.case is not None
        names = _result_names(program)
        wanted = [self.session.read(item) for item in made.wanted]
        golden = [self.session.read(g) if g is not None else None for g in made.golden]
        given = [launched.tensors[name] for name in names if name is not None]
        if len(given) != len(wanted):
            result.error = f"{len(given)} of {len(wanted)} results are computed"
            return
        try:
            checked = self.session.check(row, given)
        except RequestError as error:
            result.published, result.message = False, f"the suite's check fails: {error}"
        else:
            result.published, result.message = checked.passed, checked.message
            result.figures = dict(checked.figures)
        if not ours:
            return
        unwritten = [launched.unwritten.get(name, 0) for name in names if name is not None]
        result.case = compared(result.case, given, wanted, golden, unwritten)
        result.strict = result.case.correct

    def time(self, result: RowResult) -> None:
        """The time at the row's own shapes; with its values where they matter and there are any."""
        program = result.program
        assert program is not None
        assert program.program is not None
        assert result.case is not None
        sizes = sizes_of(program.graph, result.case.shapes)
        held, self.inputs = self.inputs, {}
        if held:
            shapes = {name: tensor.shape for name, tensor in held.items()}
        elif sizes is not None:
            shapes = operand_shapes(program.plan, program.graph, sizes)
        else:
            return
        values = held if program.program.follows_values else None
        timed = program.program.time(shapes, values=values, limits=LAUNCH_LIMITS)
        result.timing, result.timing_note = timed.timing, timed.timing_note
        graph = program.graph
        own = Graph(graph.name, graph.sources, [], [], [], eager=self.session.eager(result.number))
        result.baseline = baseline(own, self.soc) if own.eager else None


def judge_row(
    result: RowResult,
    stand_in: StandIn | None,
    judged: Callable[[RowResult, int, Mode], bool],
) -> bool:
    """Judge a row, or first the smaller one that stands in; False where the sizes are refused.

    `judged(found, row, mode)` runs a row of the table for `found`. Where no smaller version works,
    a row that can be computed is checked as it is.
    """
    if stand_in is None:
        return judged(result, result.number, "check")
    said = "there is no smaller version of it"
    for option in stand_in.options:
        small = RowResult(result.number, result.program, case=result.case)
        if not judged(small, option, "check") or small.unusable is not None:
            said = small.error or small.unusable or said
            continue
        if not stand_in.instead and not judged(result, result.number, "run"):
            return False
        result.stood_in = option
        result.error = result.error or small.error
        result.case, result.strict = small.case, small.strict
        if stand_in.instead:
            result.published, result.message = small.published, small.message
            result.figures = small.figures
        return True
    if stand_in.instead:
        result.unusable = f"too large to be computed here, and no smaller: {said}"
        return True
    return judged(result, result.number, "check")


def _result_names(program: Program) -> list[str | None]:
    """The program's tensors by what the reference returns; what it only changes is not among it."""
    by_result = {operand.result: operand.name for operand in program.plan.operands}
    return [
        by_result.get(number)
        for number, result in enumerate(program.graph.results)
        if result.mutates is None
    ]


def compared(
    case: Case,
    given: Sequence[HostTensor],
    wanted: Sequence[HostTensor],
    golden: Sequence[HostTensor | None],
    unwritten: Sequence[int],
) -> Case:
    """Our own judgement of a row."""
    problems: list[str] = []
    absolute: list[float | None] = []
    relative: list[float | None] = []
    for number, (got, want, exact) in enumerate(zip(given, wanted, golden, strict=True)):
        if got.dtype != want.dtype or got.shape != want.shape:
            kinds = f"{got.dtype.name}{got.shape} instead of {want.dtype.name}{want.shape}"
            problems.append(f"result {number} is {kinds}")
            continue
        found = judge(got, want, exact, unwritten[number])
        absolute.append(found.max_abs)
        relative.append(found.max_rel)
        if not found.correct:
            problems.append(f"result {number}: {found.summary}")
    known = [value for value in absolute if value is not None]
    ratios = [value for value in relative if value is not None]
    return Case(
        case.shapes,
        case.dtypes,
        not problems,
        max(known) if known and len(known) == len(absolute) else None,
        max(ratios) if ratios and len(ratios) == len(relative) else None,
        "; ".join(problems) or None,
    )
