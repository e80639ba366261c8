# SPDX-License-Identifier: Apache-2.0
"""The planner's variants: timed, and the fastest one that is proven."""

from __future__ import annotations

from dataclasses import dataclass

from npuforge.generate.cases import ProofCase
from npuforge.generate.outcome import Candidate
from npuforge.generate.proof import Proof
from npuforge.generate.tuning import Trial, tune
from npuforge.generate.workbench import Chosen, Workbench
from npuforge.generate.writer import Planner
from npuforge.spec.graph import Graph


@dataclass(frozen=True, slots=True)
class PlannedWriter:
    """A `Writer` that tries all a planner has to offer."""

    planner: Planner
    name: str = "planner"
    forms: tuple[str, ...] | None = None

    def cases(self, graph: Graph, module: str) -> list[ProofCase]:  # noqa: ARG002
        return []

    def __call__(self, bench: Workbench) -> Chosen:
        return _choose(self.planner, bench)


def _choose(planner: Planner, bench: Workbench) -> Chosen:
    """Where no proof holds, the fastest stands with its failure."""
    with bench.stage("plan"):
        plan = planner(bench.graph, bench.chip)
    with bench.stage("tune", f"{len(plan.variants)} variants"):
        trials = tune(
            plan, bench.graph, bench.chip, bench.tune_s, bench.observer, bench.references.given
        )
    order = sorted(
        (trial for trial in trials if trial.program is not None and trial.program.build.ok),
        key=lambda trial: trial.time_us if trial.time_us is not None else float("inf"),
    )
    wrong: dict[int, str] = {}
    kept: tuple[Trial, Proof] | None = None
    for trial in order:
        proof = bench.prove(trial, plan)
        if proof.holds:
            kept = (trial, proof)
            break
        kept = kept or (trial, proof)
        wrong[id(trial)] = proof.failure
        bench.notes.append(f"{trial.variant.title}: {proof.failure}")
    if kept is None:
        return Chosen(plan, tuple(trials), tuple(_candidate(t, None, wrong) for t in trials))
    winner, proof = kept
    chosen = winner if proof.holds else None
    candidates = tuple(_candidate(trial, chosen, wrong) for trial in trials)
    timed, trace = bench.time(winner, plan, proof)
    return Chosen(plan, tuple(trials), candidates, winner, proof, timed, trace)


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
