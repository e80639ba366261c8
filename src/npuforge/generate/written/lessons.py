# SPDX-License-Identifier: Apache-2.0
"""What a search taught, as entries: written when one of Hawk's criteria holds, and only if the twin
bears it out.

difficulty   a fault that took two rounds or more to overcome
speed        a right program became faster by the threshold that is worth an entry, or an expert's
             program (the planner's) is still so much faster where the search ended
derivation   the same, and whoever wrote it says that it computes in another way

Programs and figures come from the search; a model only says in words what they show, and, for
kernels, what they compute. `knowledge.verify` runs both programs before the entry is kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from npuforge.errors import NpuforgeError
from npuforge.generate.written.advice import situation_of
from npuforge.generate.written.answer import blocks
from npuforge.generate.written.attempt import Attempt
from npuforge.generate.written.feedback import Cause
from npuforge.generate.written.prompts import render
from npuforge.generate.written.standalone import launch_of, standing_alone
from npuforge.generate.written.task import Task
from npuforge.knowledge.entry import LEAST_RATIO, Advice, Entry
from npuforge.knowledge.store import Put, Store
from npuforge.knowledge.verify import verified
from npuforge.knowledge.words import words
from npuforge.models import Client, Message
from npuforge.verdict import Case

_ROUNDS = 2  # between a fault and what overcame it, to be worth an entry
_MOST = 3
_RULE = re.compile(r"\b[A-Z]{2,4}-\d{2}\b")
_CLAIMS: dict[Cause, str] = {
    "does not parse": "does not compile",
    "does not compile": "does not compile",
    "does not run": "does not run",
    "race": "race",
    "wrong": "wrong",
}


@dataclass(frozen=True, slots=True)
class Lesson:
    """Two programs of a search: what was wrong with `before` is not with `after`."""

    criterion: Literal["difficulty", "speed"]
    claim: str
    before: Attempt
    after: Attempt


class _Told(msgspec.Struct, forbid_unknown_fields=True):
    """What a model says about a lesson."""

    title: str
    rationale: str
    tags: list[str]
    identifiers: list[str]
    subject: str
    choice: str
    derivation: bool = False
    expected: dict[str, str] = {}


def lessons(attempts: Sequence[Attempt], expert: Attempt | None = None) -> list[Lesson]:
    """What the attempts taught, and what an expert's program still does better."""
    best = max(attempts, key=lambda attempt: attempt.worth, default=None)
    compared = [best, expert] if best is not None and expert is not None else []
    return [*_overcome(attempts), *_faster(attempts), *_faster(compared)][:_MOST]


def _overcome(attempts: Sequence[Attempt]) -> Iterator[Lesson]:
    """The fault that lasted longest, where it lasted."""
    right = next((n for n, attempt in enumerate(attempts) if attempt.right), None)
    if right is None:
        return
    lasted: dict[Cause, list[int]] = {}
    for number, attempt in enumerate(attempts[:right]):
        if attempt.trial is not None:
            lasted.setdefault(attempt.feedback.cause, []).append(number)
    for cause, numbers in sorted(lasted.items(), key=lambda one: -len(one[1])):
        before = attempts[numbers[-1]]
        claim = _claim(cause, before)
        if len(numbers) >= _ROUNDS and claim is not None:
            yield Lesson("difficulty", claim, before, attempts[right])
            return


def _claim(cause: Cause, attempt: Attempt) -> str | None:
    if cause == "rule":
        found = _RULE.search(attempt.feedback.text)
        return f"rule {found.group()}" if found else None
    return _CLAIMS.get(cause)


def _faster(attempts: Sequence[Attempt]) -> Iterator[Lesson]:
    timed = [attempt for attempt in attempts if attempt.right and attempt.time_us]
    if len(timed) < 2:
        return
    first, best = timed[0], min(timed, key=lambda attempt: attempt.time_us or 0.0)
    if (first.time_us or 0.0) >= LEAST_RATIO * (best.time_us or 1.0):
        yield Lesson("speed", f"slower {LEAST_RATIO:.2f}", first, best)


def keep(
    store: Store,
    client: Client,
    task: Task,
    attempts: Sequence[Attempt],
    expert: Attempt | None = None,
) -> list[str]:
    """Write down what was learned; a line for each lesson, kept or not."""
    said: list[str] = []
    for lesson in lessons(attempts, expert):
        try:
            entry = verified(_entry(client, task, lesson))
            store.change("learned", f"from {task.signature.name}", [Put(entry, "active")])
            said.append(f"learned: {entry.id}")
        except (NpuforgeError, msgspec.MsgspecError) as error:
            said.append(f"a lesson was not kept: {error}")
    return said


def _entry(client: Client, task: Task, lesson: Lesson) -> Entry:
    """`MsgspecError` where a model's words have another form, `UsageError` where they are wrong."""
    before, after = lesson.before.trial, lesson.after.trial
    assert before is not None
    assert after is not None
    language = after.variant.language
    text = render(
        "lesson",
        task.prompts,
        before=before.variant.program,
        after=after.variant.program,
        fence="python" if language == "tile" else "cpp",
        wrong=lesson.before.feedback.text,
        right=lesson.after.feedback.text,
        faster=lesson.criterion == "speed",
        expected=language == "ascendc",
        outputs=[o.name for o in task.signature.operands if o.role != "input"],
        tags=words().tags,
    )
    reply = client.ask([Message("user", text)], purpose="scribe")
    fenced = blocks(reply.text)
    told = msgspec.toml.decode(fenced[-1].text if fenced else reply.text, type=_Told)
    situation = situation_of(task, language, lesson.before)
    case = next((c for c in _cases_of(lesson.before) if c.correct is False), None)
    shapes = case.shapes if case is not None else None
    digest = hashlib.sha256(after.variant.program.encode()).hexdigest()[:8]
    slug = re.sub(r"[^a-z0-9]+", "-", told.title.lower()).strip("-")[:60].strip("-")
    return Entry(
        id=f"{slug}-{digest}",
        title=told.title,
        criterion="derivation" if told.derivation else lesson.criterion,
        language=language,
        rationale=told.rationale,
        claim=lesson.claim,
        before=standing_alone(before.program, before.variant.program, task),
        after=standing_alone(after.program, after.variant.program, task),
        launch=launch_of(task, after, shapes, told.expected),
        operators=situation.operators,
        dtypes=situation.dtypes,
        tags=tuple(dict.fromkeys(told.tags)),
        identifiers=tuple(dict.fromkeys(told.identifiers)),
        advises=Advice(told.subject, told.choice),
    )


def _cases_of(attempt: Attempt) -> Sequence[Case]:
    return attempt.proof.cases if attempt.proof is not None else ()
