# SPDX-License-Identifier: Apache-2.0
"""From a module to a proven operator: capture, plan, tune, prove, time, write.

One process of the module captures it and then computes references, while programs are planned and
built here. The fastest variant is proven first; one whose proof fails makes way for the next.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from npuforge.eager import baseline, compared
from npuforge.errors import UsageError
from npuforge.generate.calls import model_shape
from npuforge.generate.cases import ProofCase, choose
from npuforge.generate.description import module_text
from npuforge.generate.events import Observer, StageDone, StageStarted, silent
from npuforge.generate.outcome import Candidate, Outcome, Stage
from npuforge.generate.proof import Proof, prove
from npuforge.generate.reference import WORKER, ModuleProcess, References
from npuforge.generate.stopwatch import in_full
from npuforge.generate.tuning import Trial, tune
from npuforge.lower.formats import emit
from npuforge.plan import Plan
from npuforge.soc.data import load_soc
from npuforge.spec.graph import Graph
from npuforge.spec.session import ModuleSession
from npuforge.twin.execute import RunResult
from npuforge.twin.toolchain import Toolchain
from npuforge.verdict import Verdict

DEFAULT_TUNE_S = 8.0
_MOST_TRACE = 64 << 20


class Planner(Protocol):
    """A function that writes programs for a graph; `PlanError` says why it cannot."""

    __name__: str

    def __call__(self, graph: Graph, soc: str) -> Plan: ...


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked for."""

    soc: str = "910b2"
    form: str = "msopgen"
    strategy: str = "planner"
    tune_s: float = DEFAULT_TUNE_S


def from_file(
    file: Path,
    planner: Planner,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    observer: Observer = silent,
    refused: Collection[str] = (),
) -> Outcome:
    """Generate from a module's file or a description (TOML); its code runs in the sandbox only.

    A module that dispatches one of the operations that are `refused` is refused at once.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="npuforge-described-") as place:
        if file.suffix == ".toml":
            file = _described(file, Path(place))
        with ModuleSession(file, then=WORKER, refused=refused) as session:
            text = file.read_text("utf-8", errors="replace")
            return from_process(session, text, planner, settings, observer, started=started)


def _described(file: Path, folder: Path) -> Path:
    """The module's file that a description stands for."""
    name, text = module_text(file)
    module = folder / f"{name}.py"
    module.write_text(text, "utf-8")
    return module


def from_process(
    module: ModuleProcess,
    reference: str,
    planner: Planner,
    settings: Settings,
    observer: Observer = silent,
    *,
    started: float | None = None,
) -> Outcome:
    """Generate from a module that is being captured; `reference` is its text."""
    run = _Run(module, reference, planner, settings, observer, started or time.monotonic())
    return run.outcome()


@dataclass(slots=True)
class _Run:
    module: ModuleProcess
    reference: str
    planner: Planner
    settings: Settings
    observer: Observer
    started: float
    stages: list[Stage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def outcome(self) -> Outcome:
        chip = load_soc(self.settings.soc).soc
        with self.stage("capture"):
            Toolchain.find().runtime()
            graph = self.module.graph
        cases = choose(graph)
        for name, value in graph.scalars.items():
            self.notes.append(f"the argument {name} is fixed at {value}")
        references = References(self.module, cases)
        with self.stage("plan"):
            plan = self.planner(graph, chip)
        with self.stage("tune", f"{len(plan.variants)} variants"):
            tune_s, given = self.settings.tune_s, references.given
            trials = tune(plan, graph, chip, tune_s, self.observer, given)
        candidates, winner, proof, timed, trace = self._proven(
            trials, plan, graph, cases, references
        )
        known = baseline(graph, chip)
        verdict = compared(self._verdict(plan, trials, proof, timed, chip), known)
        files: dict[str, str] = {}
        if winner is not None and winner.program is not None:
            host = winner.program.lowered.program.host
            shape = model_shape(host, plan, graph, self.module.signature, self.reference)
            files = emit(winner.program.lowered, self.settings.form, model=shape)
        return Outcome(
            name=plan.name,
            graph=graph,
            plan=plan,
            reference=self.reference,
            candidates=candidates,
            verdict=replace(verdict, seconds=round(time.monotonic() - self.started, 3)),
            form=self.settings.form,
            files=files,
            timing=timed.timing if timed is not None else None,
            trace=trace,
            notes=tuple(self.notes),
            stages=tuple(self.stages),
            baseline=known,
        )

    def _proven(
        self,
        trials: list[Trial],
        plan: Plan,
        graph: Graph,
        cases: list[ProofCase],
        references: References,
    ) -> tuple[tuple[Candidate, ...], Trial | None, Proof | None, RunResult | None, bytes]:
        """The fastest trial whose proof holds; where none does, the fastest with its failure."""
        order = sorted(
            (trial for trial in trials if trial.program is not None and trial.program.build.ok),
            key=lambda trial: trial.time_us if trial.time_us is not None else float("inf"),
        )
        wrong: dict[int, str] = {}
        kept: tuple[Trial, Proof] | None = None
        for trial in order:
            assert trial.program is not None
            with self.stage("prove", trial.variant.title):
                proof = prove(trial.program, plan, graph, cases, references, self.observer)
            if proof.holds:
                kept = (trial, proof)
                break
            kept = kept or (trial, proof)
            wrong[id(trial)] = _failure(proof)
            self.notes.append(f"{trial.variant.title}: {wrong[id(trial)]}")
        if kept is None:
            return tuple(_candidate(t, None, wrong) for t in trials), None, None, None, b""
        winner, proof = kept
        chosen = winner if proof.holds else None
        candidates = tuple(_candidate(trial, chosen, wrong) for trial in trials)
        timed, trace = self._timed(winner, proof, plan, graph, references)
        return candidates, winner, proof, timed, trace

    def _timed(
        self, winner: Trial, proof: Proof, plan: Plan, graph: Graph, references: References
    ) -> tuple[RunResult | None, bytes]:
        """The time at the given shapes, and its timeline."""
        assert winner.program is not None
        with (
            self.stage("time"),
            tempfile.TemporaryDirectory(prefix="npuforge-trace-") as place,
        ):
            trace = Path(place) / "trace.json"
            try:
                timed = in_full(winner.program, plan, graph, trace, references.given)
            except UsageError as error:
                proof.error = proof.error or f"the given shapes are refused: {error}"
                return None, b""
            if timed.result.error is not None:
                self.notes.append(f"not timed at the given shapes: {timed.result.error}")
            if timed.note is not None:
                self.notes.append(timed.note)
            known = trace.is_file() and trace.stat().st_size <= _MOST_TRACE
            return timed.result, trace.read_bytes() if known else b""

    def _verdict(
        self,
        plan: Plan,
        trials: list[Trial],
        proof: Proof | None,
        timed: RunResult | None,
        chip: str,
    ) -> Verdict:
        verdict = Verdict(plan.name, strategy=self.settings.strategy, soc=chip, compiled=True)
        if proof is None:
            diagnostics = [d for trial in trials for d in trial.diagnostics]
            return replace(verdict, compiled=False, diagnostics=diagnostics)
        timing = timed.timing if timed is not None else None
        return replace(
            verdict,
            violations=proof.violations,
            advice=proof.advice,
            races=proof.races,
            cases=proof.cases,
            correct=proof.correct,
            error=proof.error,
            isolation=proof.isolation,
            **(timing.verdict_fields() if timing is not None else {}),
        )

    @contextmanager
    def stage(self, name: str, what: str = "") -> Iterator[None]:
        self.observer(StageStarted(name, what))
        started = time.monotonic()
        yield
        seconds = time.monotonic() - started
        self.stages.append(Stage(name, round(seconds, 3)))
        self.observer(StageDone(name, seconds, what))


def _failure(proof: Proof) -> str:
    """Why a proof does not hold, in a line."""
    if proof.error is not None:
        return proof.error
    for case in proof.cases:
        if case.correct is False:
            return case.message or "wrong"
    if proof.races:
        return f"race: {proof.races[0].message}"
    broken = [violation for violation in proof.violations if violation.severity == "error"]
    if broken:
        return f"{broken[0].rule}: {broken[0].message}"
    return "no case could be run"


def _candidate(trial: Trial, chosen: Trial | None, wrong: dict[int, str]) -> Candidate:
    if trial is chosen:
        return Candidate(trial.variant, "chosen", trial.time_us)
    if not trial.tried:
        return Candidate(trial.variant, "untried", note=trial.problem)
    if id(trial) in wrong:
        return Candidate(trial.variant, "wrong", trial.time_us, wrong[id(trial)])
    if trial.time_us is None:
        return Candidate(trial.variant, "failed", note=trial.problem)
    note = ""
    if chosen is not None and chosen.time_us:
        note = f"{trial.time_us / chosen.time_us:.2f} times the chosen one's time"
    return Candidate(trial.variant, "slower", trial.time_us, note)
