# SPDX-License-Identifier: Apache-2.0
"""What is known, put before a model at the moment it matters; and what came of it.

The first question gets lessons for operators of its kind, every later one those for what went
wrong. When a batch did not help, the next one is made from the new judgement and leaves out what
was served before from the same program. A replayed run is told what the recorded one was told.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from npuforge.generate.outcome import Used
from npuforge.generate.written.attempt import Attempt
from npuforge.generate.written.loop import Question
from npuforge.generate.written.structure import structures
from npuforge.generate.written.task import Task
from npuforge.knowledge.embed import choose
from npuforge.knowledge.entry import Entry
from npuforge.knowledge.index import Index
from npuforge.knowledge.outcomes import Use, effect_of, note
from npuforge.knowledge.query import query_of
from npuforge.knowledge.raw import undistilled
from npuforge.knowledge.retrieve import TOP, Axes, Form, retrieve
from npuforge.knowledge.shipped import open_store
from npuforge.knowledge.situation import Situation, facts_of
from npuforge.language import Language
from npuforge.models import Client

# full: both axes, entries whole. identifiers, meaning: one axis. plain: words without programs.
# raw: entries as they were first written, before any distillation.
Mode = Literal["full", "identifiers", "meaning", "plain", "raw"]
_AXES: Mapping[Mode, Axes] = {"identifiers": "identifiers", "meaning": "meaning"}
_ENTRIES, _ADVICE, _TITLE = "entries", "advice", "title"
_WIDE = 40  # entries looked through for a first question


@dataclass(frozen=True, slots=True)
class Advice:
    """Entries for one question: their ids, and the text that a prompt shows."""

    ids: tuple[str, ...] = ()
    text: str = ""

    def notes(self, title: str) -> dict[str, str]:
        """For the recording of the exchange."""
        if not self.ids:
            return {}
        return {_TITLE: title, _ENTRIES: " ".join(self.ids), _ADVICE: self.text}


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What strategies may draw on; with `learn` they write down what they learned."""

    index: Index
    mode: Mode = "full"
    learn: bool = False
    top: int = TOP

    @staticmethod
    @contextmanager
    def opened(path: Path | None, mode: Mode, learn: bool) -> Iterator[Knowledge]:
        """The store at `path`, or the user's own."""
        with open_store(path) as store:
            if mode != "raw":
                yield Knowledge(Index(store, choose()), mode, learn)
                return
            with undistilled(store) as raw:
                yield Knowledge(Index(raw, choose()), mode, learn=False)

    def advisor(self, client: Client) -> Advisor:
        """For one task."""
        return Advisor(self.index, self.mode, self.top, client.replayed)


@dataclass
class Advisor:
    """For one task; `recorded` are the notes of a run that is replayed."""

    index: Index
    mode: Mode = "full"
    top: int = TOP
    recorded: list[dict[str, str]] | None = None
    used: list[Used] = field(default_factory=list)
    _in_vain: dict[str, set[str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def advise(self, task: Task, language: Language, question: Question) -> Advice:
        """What to tell whoever answers the question."""
        if self.recorded is not None:
            return _told(self.recorded, question.title)
        origin = question.origin
        with self._lock:
            known = self._in_vain.get(_key(origin), set())
        situation = situation_of(task, language, origin)
        cause, said, source = "", "", ""
        if origin is not None:
            cause, said = origin.feedback.cause, origin.feedback.text
            source = origin.trial.variant.program if origin.trial is not None else ""
        query = query_of(situation, cause, said, source, exclude=known)
        axes = _AXES.get(self.mode, "both")
        found = retrieve(self.index, query, self.top if origin is not None else _WIDE, axes)
        if origin is None:
            found = [served for served in found if _about_the_work(served.entry)][: self.top]
        form: Form = "plain" if self.mode == "plain" else "entry"
        return Advice(
            tuple(served.entry.id for served in found),
            "\n\n".join(served.shown(form) for served in found),
        )

    def learn(
        self, task: Task, language: Language, question: Question, attempt: Attempt, advice: Advice
    ) -> None:
        """Keep what came of an attempt that was advised. A first program has nothing that it could
        be compared with, and an answer without one says nothing about what it was told."""
        if not advice.ids:
            return
        origin = question.origin
        if origin is None or attempt.trial is None:
            before = origin.feedback.cause if origin is not None else ""
            with self._lock:
                used = Used(question.title, advice.ids, before, attempt.feedback.cause, "nothing")
                self.used.append(used)
            return
        worths = _worth(origin), _worth(attempt)
        effect = effect_of(*worths)
        causes = origin.feedback.cause, attempt.feedback.cause
        with self._lock:
            self.used.append(Used(question.title, advice.ids, *causes, effect))
            if effect != "helped":
                self._in_vain.setdefault(_key(origin), set()).update(advice.ids)
        if self.recorded is not None:
            return
        situation = situation_of(task, language, origin)
        uses = [
            Use(
                entry=entry,
                task=task.signature.name,
                situation=situation,
                cause_before=causes[0],
                cause_after=causes[1],
                worth_before=worths[0],
                worth_after=worths[1],
            )
            for entry in advice.ids
        ]
        note(self.index.store, uses)


def situation_of(task: Task, language: Language, origin: Attempt | None) -> Situation:
    """What is known of a task, and of the program that it goes on from."""
    graph = task.bench.graph
    tensors = [(parameter.shape, parameter.dtype) for parameter in task.signature.parameters]
    timing = origin.timed.timing if origin is not None and origin.timed is not None else None
    return Situation(
        language=language,
        operators=tuple(sorted(structures(graph))),
        dtypes=tuple(sorted({dtype for _, dtype in tensors})),
        soc=task.bench.chip,
        cause=origin.feedback.cause if origin is not None else "",
        bottleneck=timing.bottleneck.kind if timing is not None else "",
        facts=facts_of(tensors),
    )


def _about_the_work(entry: Entry) -> bool:
    """Before anything went wrong only lessons for operators of this kind are worth their length:
    what is faster or better derived, not how faults are repaired."""
    return bool(entry.operators) and entry.criterion in ("speed", "derivation")


def _worth(attempt: Attempt) -> tuple[float, ...]:
    return tuple(float(part) for part in attempt.worth)


def _key(origin: Attempt | None) -> str:
    if origin is None or origin.trial is None:
        return ""
    return origin.trial.variant.program


def _told(recorded: list[dict[str, str]], title: str) -> Advice:
    for notes in recorded:
        if notes.get(_TITLE) == title:
            return Advice(tuple(notes[_ENTRIES].split()), notes[_ADVICE])
    return Advice()
