# SPDX-License-Identifier: Apache-2.0
"""Strategies that ask a model: a language to write in, a start, and a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.generate.cases import ProofCase
from npuforge.generate.workbench import Chosen, Workbench
from npuforge.generate.written.advice import Knowledge
from npuforge.generate.written.attempt import Attempt
from npuforge.generate.written.dialect import Dialect
from npuforge.generate.written.dialects.kernel import KernelDialect
from npuforge.generate.written.lessons import keep
from npuforge.generate.written.loop import Search, search
from npuforge.generate.written.roles import Role, Roles
from npuforge.generate.written.signature import signature_of
from npuforge.generate.written.start import Start, expert, from_path, from_planner
from npuforge.generate.written.task import Prompts, Task
from npuforge.generate.written.work import Work
from npuforge.language import Language
from npuforge.models import Client
from npuforge.spec.graph import Graph


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """A `Writer` that begins with nothing; `name` is the strategy's."""

    name: str
    client: Client
    dialect: Dialect
    settings: Search = field(default_factory=Search)
    prompts: Prompts = None
    roles: frozenset[Role] = frozenset()
    knowledge: Knowledge | None = None

    @property
    def forms(self) -> tuple[str, ...] | None:
        return self.dialect.forms

    def cases(self, graph: Graph, module: str) -> list[ProofCase]:
        return Roles(self.client, self.roles, self.prompts).cases(graph, module)

    def __call__(self, bench: Workbench) -> Chosen:
        return self.written(bench, None)

    def written(self, bench: Workbench, start: Start | None) -> Chosen:
        """The best that a search finds, from `start` on where there is one."""
        signature = signature_of(bench.graph)
        if start is not None and start.operands is not None:
            signature = signature.holding(start.operands)
        task = Task(bench, signature, self.prompts)
        roles = Roles(self.client, self.roles, self.prompts)
        dialect = self.dialect if start is None else start.dialect
        with bench.stage("write", self.client.endpoint.model):
            brief = roles.plan(dialect.brief(task))
            advisor = self.knowledge.advisor(self.client) if self.knowledge is not None else None
            work = Work(task, dialect, self.client, roles, brief, advisor)
            first = work.judged("start", start.code) if start is not None else None
            found = search(self.settings, work.attempt, first, self.client.stop)
        if found.interrupted:
            bench.interrupts.note()
        bench.notes.append(f"the search ended {found.ended}, after {len(found.attempts)} programs")
        spent = self.client.ledger
        bench.notes.append(f"{spent.exchanges} exchanges, {spent.usage.total} tokens")
        if first is not None and found.best is first:
            bench.notes.append("no program is better than the one it started from")
        if all(attempt.trial is None for attempt in found.attempts):
            if found.interrupted:
                raise KeyboardInterrupt
            why = found.attempts[-1].feedback.text if found.attempts else found.ended
            raise UsageError(f"no program was written: {why}")
        if not found.interrupted:
            self._learn(task, found.attempts)
        bench.interrupts.finish()
        chosen = _chosen(task, found.attempts, found.best)
        return replace(chosen, used=tuple(advisor.used) if advisor is not None else ())

    def _learn(self, task: Task, attempts: Sequence[Attempt]) -> None:
        """What was learned is the user's own: a replayed run has taught it already."""
        if self.knowledge is None or not self.knowledge.learn or self.client.replayed is not None:
            return
        with task.bench.stage("learn"):
            try:
                # Both must be in one language: an entry shows one program and then the other.
                known = expert(task.bench) if self.dialect.language == "tile" else None
                said = keep(self.knowledge.index.store, self.client, task, attempts, known)
            except KeyboardInterrupt:  # the program is right already, and is not lost by it
                task.bench.interrupts.note()
                said = ["learning was interrupted"]
        task.bench.notes.extend(said)


@dataclass(frozen=True, slots=True)
class Refiner:
    """A `Writer` that starts from a program: `path`'s, or else the planner's in `language`."""

    writer: ModelWriter
    language: Language = "tile"
    path: Path | None = None
    name: str = "refine"

    @property
    def forms(self) -> tuple[str, ...] | None:
        if self.path is None:
            return None if self.language == "tile" else KernelDialect().forms
        return from_path(self.path).dialect.forms

    def cases(self, graph: Graph, module: str) -> list[ProofCase]:
        return self.writer.cases(graph, module)

    def __call__(self, bench: Workbench) -> Chosen:
        if self.path is not None:
            return self.writer.written(bench, from_path(self.path))
        return self.writer.written(bench, from_planner(bench, self.language))


def _chosen(task: Task, attempts: Sequence[Attempt], best: Attempt | None) -> Chosen:
    chosen = best if best is not None and best.right else None
    candidates = [c for attempt in attempts if (c := attempt.candidate(chosen)) is not None]
    trials = [attempt.trial for attempt in attempts if attempt.trial is not None]
    plan = task.plan(*(candidate.variant for candidate in candidates))
    if best is None or best.trial is None or best.proof is None:
        return Chosen(plan, tuple(trials), tuple(candidates))
    return Chosen(
        plan, tuple(trials), tuple(candidates), best.trial, best.proof, best.timed, best.trace
    )
