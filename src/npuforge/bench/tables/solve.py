# SPDX-License-Identifier: Apache-2.0
"""All rows of a table: a program for each, its run on the twin, both judgements, its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from npuforge.bench.tables.programs import Writer, sizes_of
from npuforge.bench.tables.result import Program, RowResult, Solved
from npuforge.bench.tables.session import Described, Made, RequestError, TableSession
from npuforge.bench.tables.table import Table
from npuforge.dtypes import HostTensor
from npuforge.eager import baseline
from npuforge.errors import UsageError
from npuforge.generate.judge import judge
from npuforge.generate.pipeline import Planner
from npuforge.spec.graph import Graph
from npuforge.twin.execute import RunResult
from npuforge.verdict import Case


def solve(
    table: Table,
    planner: Planner,
    *,
    soc: str = "910b2",
    static: bool = False,
    candidates: int = 1,
) -> Solved:
    """Every row of the table; `static` gives each a program of its own.

    `UsageError` where the adapter cannot open the task.
    """
    with TableSession(table) as session:
        solver = _Solver(session, Writer(session, planner, soc, candidates), soc, static)
        for number, described in enumerate(session.describe()):
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
    writer: Writer
    soc: str
    static: bool
    solved: Solved = field(default_factory=Solved)
    known: list[_Known] = field(default_factory=list)

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
        except UsageError as error:
            result.unplanned = str(error)
            return None
        self.solved.programs.append(program)
        self.solved.keep(program.proof)
        if program.program is not None:
            build = program.program.build
            found = build.violations
            self.solved.violations += [v for v in found if v not in self.solved.violations]
        known = _Known(described.key, result.number, program)
        self.known.append(known)
        return known

    def ran(self, result: RowResult, known: _Known) -> bool:
        """Run and judge the row; False where the program does not take its sizes."""
        result.program = program = known.program
        if program.program is None:
            told = program.diagnostics[0].message if program.diagnostics else "it does not compile"
            result.error = told
            return True
        try:
            made = self.session.make(result.number, known.row)
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
            launched = program.program.launch(inputs, mode="check")
        except UsageError as error:
            result.error = f"not supported: {error}"
            return False
        self.solved.keep(launched)
        result.error = launched.error
        if launched.error is None:
            self.judge(result, made, launched)
            self.time(result, inputs)
        return True

    def judge(self, result: RowResult, made: Made, launched: RunResult) -> None:
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
            checked = self.session.check(result.number, given)
        except RequestError as error:
            result.published, result.message = False, f"the suite's check fails: {error}"
        else:
            result.published, result.message = checked.passed, checked.message
            result.figures = dict(checked.figures)
        unwritten = [launched.unwritten.get(name, 0) for name in names if name is not None]
        result.case = _compared(result.case, given, wanted, golden, unwritten)
        result.strict = result.case.correct

    def time(self, result: RowResult, inputs: dict[str, HostTensor]) -> None:
        program = result.program
        assert program is not None
        assert program.program is not None
        shapes = {name: tensor.shape for name, tensor in inputs.items()}
        values = inputs if program.program.follows_values else None
        result.timing = program.program.time(shapes, values=values).timing
        graph = program.graph
        own = Graph(graph.name, graph.sources, [], [], [], eager=self.session.eager(result.number))
        result.baseline = baseline(own, self.soc) if own.eager else None


def _result_names(program: Program) -> list[str | None]:
    """The program's tensors by what the reference returns; what it only changes is not among it."""
    by_result = {operand.result: operand.name for operand in program.plan.operands}
    return [
        by_result.get(number)
        for number, result in enumerate(program.graph.results)
        if result.mutates is None
    ]


def _compared(
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
