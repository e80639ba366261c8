# SPDX-License-Identifier: Apache-2.0
"""What whoever writes programs works with: the task, and the judgement on what was written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.generate.cases import ProofCase
from npuforge.generate.events import Observer, StageDone, StageStarted
from npuforge.generate.interrupts import Interrupts
from npuforge.generate.outcome import Candidate, Stage, Used
from npuforge.generate.proof import Proof, prove
from npuforge.generate.reference import References
from npuforge.generate.stopwatch import in_full
from npuforge.generate.tuning import Trial
from npuforge.plan import Plan
from npuforge.scratch import scratch_folder
from npuforge.spec.graph import Graph
from npuforge.twin.execute import RunResult

_MOST_TRACE = 64 << 20


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a writer ends with. `winner` is the trial that stands for it, with its proof; whether it
    holds is for the verdict. Without one nothing could be built."""

    plan: Plan
    trials: tuple[Trial, ...]
    candidates: tuple[Candidate, ...]
    winner: Trial | None = None
    proof: Proof | None = None
    timed: RunResult | None = None
    trace: bytes = b""
    used: tuple[Used, ...] = ()


@dataclass(slots=True)
class Workbench:
    """One module on one chip; `reference` is the module's text. Whoever writes may keep files in
    `scratch` as long as it lasts."""

    graph: Graph
    reference: str
    cases: list[ProofCase]
    references: References
    chip: str
    tune_s: float
    observer: Observer
    scratch: Path
    stages: list[Stage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupts: Interrupts = field(default_factory=Interrupts)

    @contextmanager
    def stage(self, name: str, what: str = "") -> Iterator[None]:
        self.observer(StageStarted(name, what))
        started = time.monotonic()
        yield
        seconds = time.monotonic() - started
        self.stages.append(Stage(name, round(seconds, 3)))
        self.observer(StageDone(name, seconds, what))

    def prove(self, trial: Trial, plan: Plan) -> Proof:
        """The proof of a trial that was built."""
        assert trial.program is not None
        with self.stage("prove", trial.variant.title):
            return prove(
                trial.program, plan, self.graph, self.cases, self.references, self.observer
            )

    def time(self, trial: Trial, plan: Plan, proof: Proof) -> tuple[RunResult | None, bytes]:
        """The time at the given shapes, and its timeline; refused shapes fail the proof."""
        assert trial.program is not None
        with self.stage("time"), scratch_folder("trace") as place:
            trace = place / "trace.json"
            try:
                timed = in_full(trial.program, plan, self.graph, trace, self.references.given)
            except UsageError as error:
                proof.error = proof.error or f"the given shapes are refused: {error}"
                return None, b""
            if timed.result.error is not None:
                self.notes.append(f"not timed at the given shapes: {timed.result.error}")
            if timed.note is not None:
                self.notes.append(timed.note)
            known = trace.is_file() and trace.stat().st_size <= _MOST_TRACE
            return timed.result, trace.read_bytes() if known else b""
