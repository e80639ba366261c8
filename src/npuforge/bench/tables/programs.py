# SPDX-License-Identifier: Apache-2.0
"""A program for a row: capture, plan, build, and prove on cases of our own."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from npuforge.bench.tables.result import Program
from npuforge.bench.tables.session import TableSession
from npuforge.errors import UsageError
from npuforge.generate.cases import ProofCase, choose
from npuforge.generate.events import silent
from npuforge.generate.planned import PlannedWriter
from npuforge.generate.proof import Proof, prove
from npuforge.generate.reference import References
from npuforge.generate.tuning import Trial, tune
from npuforge.generate.workbench import Workbench
from npuforge.generate.writer import Planner, Writer
from npuforge.plan import Plan
from npuforge.sandbox.shared_folder import SharedFolder
from npuforge.scratch import scratch_folder
from npuforge.spec.graph import Graph
from npuforge.spec.session import Signature

# The rows themselves stand for the given sizes; these are what the suite does not try. A graph for
# one shape only has nothing but other values.
_PROVEN = ("primes, long rows", "small", "large values", "special values")
_PROVEN_FIXED = ("other values", "scaled evenly", "large values", "special values")
_MOST_FIXED = 2_000_000  # elements beyond which a graph of one shape is proven by its rows alone


@dataclass(frozen=True, slots=True)
class RowWriter:
    """Writes programs for rows of a session's table; `candidates` bounds how many of a planner's
    are compared."""

    session: TableSession
    writer: Writer
    soc: str
    candidates: int

    def write(self, row: int) -> Program:
        """`UsageError` (`PlanError` among them) says why there is no program."""
        graph, signature = self.session.capture(row)
        captured = CapturedRow(self.session, row, graph, signature)
        if isinstance(self.writer, PlannedWriter):
            return self._planned(self.writer.planner, captured)
        return self._asked(captured)

    def _planned(self, planner: Planner, captured: CapturedRow) -> Program:
        graph = captured.graph
        plan = planner(graph, self.soc)
        some = replace(plan, variants=plan.variants[: self.candidates])
        trials = tune(some, graph, self.soc, math.inf)
        built = sorted(
            (t for t in trials if t.program is not None and t.program.build.ok),
            key=lambda t: t.time_us if t.time_us is not None else math.inf,
        )
        if not built:
            told = tuple(d for trial in trials for d in trial.diagnostics)
            return Program(graph, plan, trials[0].variant, None, Proof(), told)
        cases = _cases(graph)
        return _proven(built, plan, graph, cases, References(captured, cases))

    def _asked(self, captured: CapturedRow) -> Program:
        """What somebody else writes, who is told all cases and how the row is called."""
        graph, table = captured.graph, self.session.table
        called = json.dumps(table.rows[captured.row], indent=1, default=str)
        text = f"{table.text.strip()}\n\n# Called with:\n{textwrap.indent(called, '# ')}"
        cases = [*choose(graph), *self.writer.cases(graph, text)]
        references = References(captured, cases)
        with scratch_folder("work") as scratch:
            bench = Workbench(graph, text, cases, references, self.soc, math.inf, silent, scratch)
            chosen = self.writer(bench)
        if chosen.winner is None or chosen.winner.program is None:
            told = tuple(d for trial in chosen.trials for d in trial.diagnostics)
            return Program(graph, chosen.plan, chosen.trials[0].variant, None, Proof(), told)
        winner = chosen.winner
        proof = chosen.proof or Proof()
        return Program(graph, chosen.plan, winner.variant, winner.program, proof)


def _proven(
    trials: Sequence[Trial],
    plan: Plan,
    graph: Graph,
    cases: list[ProofCase],
    references: References,
) -> Program:
    """The fastest trial whose proof holds; where none does, the fastest."""
    first: Program | None = None
    for trial in trials:
        assert trial.program is not None
        proof = prove(trial.program, plan, graph, cases, references)
        made = Program(graph, plan, trial.variant, trial.program, proof)
        if not made.disproved:
            return made
        first = first or made
    assert first is not None
    return first


def _cases(graph: Graph) -> list[ProofCase]:
    try:
        cases = choose(graph)
    except UsageError:  # too large: the rows alone show what it computes
        return []
    if graph.symbols:
        return [case for case in cases if case.name in _PROVEN]
    held = sum(math.prod(source.type.shape) for source in graph.sources)
    return [case for case in cases if case.name in _PROVEN_FIXED and held <= _MOST_FIXED]


@dataclass(slots=True)
class CapturedRow:
    """A captured row as the process that references are asked of; `answers` is where they come."""

    session: TableSession
    row: int
    graph: Graph
    signature: Signature
    answers: SharedFolder | None = None

    @property
    def folder(self) -> SharedFolder:
        assert self.answers is not None
        return self.answers

    def ask(self, question: Any) -> None:
        self.answers = self.session.prove(self.row, question)

    def wait(self, name: str, limit: int) -> bytes:
        return self.session.wait(name, limit, self.folder)


def sizes_of(graph: Graph, shapes: Sequence[Sequence[int]]) -> dict[str, int] | None:
    """The graph's symbols at these shapes of its inputs; None where they do not fit it.

    A row may bring parameters of its own shape too; their extents are numbers in the graph.
    """
    found: dict[str, int] = {}
    pairs = []
    for source in graph.sources:
        if source.position is None:
            continue
        if source.position >= len(shapes) or len(shapes[source.position]) != len(source.type.shape):
            return None
        pairs += list(zip(source.type.sizes, shapes[source.position], strict=True))
    for size, extent in sorted(pairs, key=lambda pair: len(pair[0].names)):
        unknown = size.names - found.keys()
        if len(unknown) == 1:
            (name,) = unknown
            start = size.at({**found, name: 0})
            slope = size.at({**found, name: 1}) - start
            if slope == 0 or (extent - start) % slope:
                return None
            found[name] = (extent - start) // slope
        if size.names - found.keys() or size.at(found) != extent:
            return None
    least = {symbol.name: symbol.least for symbol in graph.symbols}
    return found if all(value >= least.get(name, 1) for name, value in found.items()) else None
