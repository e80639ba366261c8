# SPDX-License-Identifier: Apache-2.0
"""One attempt: a question, an answer, its judgement."""

from __future__ import annotations

from dataclasses import dataclass

from npuforge.generate.events import ProgramJudged, Writing
from npuforge.generate.written import feedback
from npuforge.generate.written.advice import Advice, Advisor
from npuforge.generate.written.answer import AnswerError
from npuforge.generate.written.attempt import Attempt
from npuforge.generate.written.dialect import Dialect
from npuforge.generate.written.loop import Question
from npuforge.generate.written.prompts import render
from npuforge.generate.written.roles import Roles
from npuforge.generate.written.task import Task
from npuforge.models import Client, Message
from npuforge.models.transport import Watch


@dataclass(frozen=True, slots=True)
class Work:
    """What attempts at a task have in common; `brief` begins every conversation. Without an
    `advisor` nothing is known but what the brief says."""

    task: Task
    dialect: Dialect
    client: Client
    roles: Roles
    brief: list[Message]
    advisor: Advisor | None = None

    def attempt(self, question: Question) -> Attempt:
        title, origin = question.title, question.origin
        purpose = "coder" if origin is None else f"coder, {origin.feedback.cause}"
        language = self.dialect.language
        advice = Advice()
        if self.advisor is not None:
            advice = self.advisor.advise(self.task, language, question)
        messages = [*self.brief, *self._known(advice), *self._turn(question)]
        try:
            notes = advice.notes(title)
            code = self._written(title, messages, purpose, question.seed, notes)
            attempt = self.judged(title, code)
        except AnswerError as error:
            attempt = Attempt(title, feedback.nothing_to_judge(str(error)))
        if self.advisor is not None:
            self.advisor.learn(self.task, language, question, attempt, advice)
        observer, said = self.task.bench.observer, attempt.feedback.short
        observer(ProgramJudged(title, said, attempt.time_us, *self._spent()))
        return attempt

    def _known(self, advice: Advice) -> list[Message]:
        if not advice.text:
            return []
        return [Message("user", render("known", self.task.prompts, advice=advice.text))]

    def _written(
        self, title: str, messages: list[Message], purpose: str, seed: int, notes: dict[str, str]
    ) -> str:
        """A program; where a reviewer finds faults, the one after its review."""
        watch = self._watch(title)
        reply = self.client.ask(messages, purpose=purpose, seed=seed, watch=watch, notes=notes)
        code = self.dialect.code(reply)
        found = self.roles.review(self.brief, code, self.dialect.fence)
        if found is None:
            return code
        text = render(
            "repair", self.task.prompts, **self._shown(code, f"A reviewer says:\n{found}")
        )
        asked = [*self.brief, Message("user", text)]
        purpose = "coder, review"
        reply = self.client.ask(asked, purpose=purpose, seed=seed, watch=self._watch(title))
        return self.dialect.code(reply)

    def judged(self, title: str, code: str) -> Attempt:
        """Built, proven, timed, as far as it comes."""
        bench = self.task.bench
        trial, said = self.dialect.make(self.task, title, code)
        if trial.program is None or said is not None:
            assert said is not None
            return Attempt(title, said, trial)
        plan = self.task.plan(trial.variant)
        proof = bench.prove(trial, plan)
        said = feedback.of_proof(proof, trial.program.source, self.dialect.language)
        if said is not None:
            return Attempt(title, said, trial, proof)
        timed, trace = bench.time(trial, plan, proof)
        if timed is None or timed.timing is None:
            why = proof.error or (timed.error if timed is not None else None) or "it is not timed"
            slow = feedback.Feedback("does not run", f"At the full sizes: {why}")
            return Attempt(title, slow, trial, proof)
        said = feedback.of_time(timed.timing, proof.advice)
        return Attempt(title, said, trial, proof, timed, trace)

    def _turn(self, question: Question) -> list[Message]:
        """The next question: from nothing, from one program, or from two."""
        origin, partner = question.origin, question.partner
        if origin is None or origin.trial is None:
            return []
        shown = self._shown(origin.trial.variant.program, origin.feedback.text)
        template = "faster" if origin.right else "repair"
        if partner is not None and partner.trial is not None:
            template = "combine"
            shown["other"] = partner.trial.variant.program
            shown["other_feedback"] = partner.feedback.text
        elif origin.right:
            shown["profile"] = self.roles.profile(self.brief, origin, self.dialect.fence) or ""
        shown["failed"] = list(question.failed)
        return [Message("user", render(template, self.task.prompts, **shown))]

    def _shown(self, program: str, said: str) -> dict[str, object]:
        return {
            "program": program,
            "feedback": said,
            "fence": self.dialect.fence,
            "form": self.dialect.form,
            "failed": [],
        }

    def _watch(self, title: str) -> Watch:
        letters = 0

        def watch(more: int) -> None:
            nonlocal letters
            letters += more
            self.task.bench.observer(Writing(title, letters, *self._spent()))

        return watch

    def _spent(self) -> tuple[int, float | None]:
        return self.client.ledger.usage.total, self.client.ledger.cost
