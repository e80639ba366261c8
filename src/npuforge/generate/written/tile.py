# SPDX-License-Identifier: Apache-2.0
"""The strategy `tile`: a model writes a tile program, the compiler lowers it.

After AscendCraft: the language's page and worked examples of like structure are shown, and what is
wrong goes back. Unlike there, lowering is the compiler's, and results, rules and time count too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.generate.events import ProgramJudged, Writing
from npuforge.generate.tuning import Trial, tune
from npuforge.generate.workbench import Chosen, Workbench
from npuforge.generate.written import feedback
from npuforge.generate.written.answer import AnswerError, tile_program
from npuforge.generate.written.attempt import Attempt
from npuforge.generate.written.loop import Search, search
from npuforge.generate.written.prompts import render
from npuforge.generate.written.signature import Signature, signature_of
from npuforge.generate.written.structure import examples_like
from npuforge.models import Client, Message
from npuforge.models.transport import Watch
from npuforge.models.wire import Piece
from npuforge.plan import Plan, Variant
from npuforge.tile import chip_constants, texts
from npuforge.verdict import Diagnostic

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class TileWriter:
    """A `Writer`; `prompts` is a folder whose templates replace ours."""

    client: Client
    settings: Search = field(default_factory=Search)
    prompts: Path | None = None
    name: str = "tile"

    def __call__(self, bench: Workbench) -> Chosen:
        signature = signature_of(bench.graph)
        work = _Work(self, bench, signature, self._brief(bench, signature))
        with bench.stage("write", self.client.endpoint.model):
            found = search(self.settings, work.attempt)
        bench.notes.append(f"the search ended {found.ended}, after {len(found.attempts)} programs")
        spent = self.client.ledger
        bench.notes.append(f"{spent.exchanges} exchanges, {spent.usage.total} tokens")
        if all(attempt.trial is None for attempt in found.attempts):
            why = found.attempts[-1].feedback.text if found.attempts else found.ended
            raise UsageError(f"no program was written: {why}")
        return _chosen(signature, found.attempts, found.best)

    def _brief(self, bench: Workbench, signature: Signature) -> list[Message]:
        known = texts.examples()
        names = examples_like(bench.graph, _EXAMPLES)
        system = render(
            "tile_system",
            self.prompts,
            reference=texts.reference(),
            examples=[known[name] for name in names],
        )
        task = render(
            "tile_task",
            self.prompts,
            module=bench.reference.strip(),
            signature=signature.text(),
            parameters=signature.parameters,
            **chip_constants(bench.chip),
        )
        return [Message("system", system), Message("user", task)]


@dataclass(frozen=True, slots=True)
class _Work:
    writer: TileWriter
    bench: Workbench
    signature: Signature
    brief: list[Message]

    def attempt(
        self, number: int, place: int, origin: Attempt | None, failed: Sequence[str]
    ) -> Attempt:
        title = f"round {number + 1}" + (f", {place + 1}" if place else "")
        messages = [*self.brief, *self._turn(origin, failed)]
        purpose = "coder" if origin is None else f"coder, {origin.feedback.cause}"
        reply = self.writer.client.ask(
            messages, purpose=purpose, seed=place, watch=self._watch(title)
        )
        try:
            attempt = self.judged(title, tile_program(reply))
        except AnswerError as error:
            attempt = Attempt(title, feedback.nothing_to_judge(str(error)))
        first = attempt.feedback.text.splitlines()[0]
        self.bench.observer(ProgramJudged(title, first, attempt.time_us, *self._spent()))
        return attempt

    def _watch(self, title: str) -> Watch:
        letters = 0

        def watch(piece: Piece) -> None:
            nonlocal letters
            letters += len(piece.text) + len(piece.thinking)
            self.bench.observer(Writing(title, letters, *self._spent()))

        return watch

    def _spent(self) -> tuple[int, float | None]:
        ledger = self.writer.client.ledger
        return ledger.usage.total, ledger.cost

    def _turn(self, origin: Attempt | None, failed: Sequence[str]) -> list[Message]:
        """The next question: from nothing, from a wrong program, or from a right one."""
        if origin is None or origin.trial is None:
            return []
        template = "tile_faster" if origin.right else "tile_repair"
        text = render(
            template,
            self.writer.prompts,
            program=origin.trial.variant.program,
            feedback=origin.feedback.text,
            failed=list(failed),
        )
        return [Message("user", text)]

    def judged(self, title: str, program: str) -> Attempt:
        """Lowered, built, proven, timed, as far as it comes."""
        plan = Plan(self.signature.name, (Variant(title, program, ""),), self.signature.operands)
        bench = self.bench
        (trial,) = tune(plan, bench.graph, bench.chip, math.inf, given=bench.references.given)
        if trial.program is None:
            return Attempt(
                title, feedback.not_built("does not parse", trial.diagnostics, program), trial
            )
        departures = list(self.signature.departures(trial.program.lowered.program.host))
        if departures:
            told = tuple(Diagnostic(None, None, text) for text in departures)
            refused = Trial(trial.variant, True, problem=departures[0], diagnostics=told)
            return Attempt(title, feedback.not_built("does not parse", told, program), refused)
        emitted = trial.program.source
        if not trial.program.build.ok:
            told = tuple(trial.program.build.diagnostics)
            return Attempt(title, feedback.not_built("does not compile", told, emitted), trial)
        proof = bench.prove(trial, plan)
        said = feedback.of_proof(proof, emitted)
        if said is not None:
            return Attempt(title, said, trial, proof)
        timed, trace = bench.time(trial, plan, proof)
        if timed is None or timed.timing is None:
            why = proof.error or (timed.error if timed is not None else None) or "it is not timed"
            slow = feedback.Feedback("does not run", f"At the full sizes: {why}")
            return Attempt(title, slow, trial, proof)
        return Attempt(title, feedback.of_time(timed.timing), trial, proof, timed, trace)


def _chosen(signature: Signature, attempts: Sequence[Attempt], best: Attempt | None) -> Chosen:
    chosen = best if best is not None and best.right else None
    candidates = [c for attempt in attempts if (c := attempt.candidate(chosen)) is not None]
    trials = [attempt.trial for attempt in attempts if attempt.trial is not None]
    variants = tuple(candidate.variant for candidate in candidates)
    plan = Plan(signature.name, variants, signature.operands)
    if best is None or best.trial is None or best.proof is None:
        return Chosen(plan, tuple(trials), tuple(candidates))
    return Chosen(
        plan, tuple(trials), tuple(candidates), best.trial, best.proof, best.timed, best.trace
    )
