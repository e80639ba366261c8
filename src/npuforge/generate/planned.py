# SPDX-License-Identifier: Apache-2.0
"""The planner's variants: timed, and the fastest one that is proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npuforge.generate.cases import ProofCase
from npuforge.generate.outcome import Candidate
from npuforge.generate.proof import Proof
from npuforge.generate.tuning import Trial, tune
from npuforge.generate.workbench import Chosen, Workbench
from npuforge.generate.writer import Planner
from npuforge.plan import Plan
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
    with bench.stage("plan"):
        plan = planner(bench.graph, bench.chip)
    with bench.stage("tune", f"{len(plan.variants)} variants"):
        trials = tune(
            plan, bench.graph, bench.chip, bench.tune_s, bench.observer, bench.references.given
        )
    return settled(bench, [(trial, plan) for trial in trials], plan)


def settled(bench: Workbench, tried: Sequence[tuple[Trial, Plan]], whole: Plan) -> Chosen:
    """The fastest of the trials that is proven, each by the plan it belongs to; where no proof
    holds, the fastest stands with its failure. `whole` is the plan where nothing was built."""
    order = sorted(
        (one for one in tried if one[0].program is not None and one[0].program.build.ok),
        key=lambda one: one[0].time_us if one[0].time_us is not None else float("inf"),
    )
    wrong: dict[int, str] = {}
    kept: tuple[Trial, Plan, Proof] | None = None
    for trial, plan in order:
        proof = bench.prove(trial, plan)
        if proof.holds:
            kept = (trial, plan, proof)
            break
        kept = kept or (trial, plan, proof)
        wrong[id(trial)] = proof.failure
        bench.notes.append(f"{trial.variant.title}: {proof.failure}")
    trials = tuple(trial for trial, _ in tried)
    if kept is None:
        return Chosen(whole, trials, tuple(_candidate(t, None, wrong) for t in trials))
    winner, plan, proof = kept
    chosen = winner if proof.holds else None
    candidates = tuple(_candidate(trial, chosen, wrong) for trial in trials)
    timed, trace = bench.time(winner, plan, proof)
    return Chosen(plan, trials, candidates, winner, proof, timed, trace)


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
