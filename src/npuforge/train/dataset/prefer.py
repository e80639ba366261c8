# SPDX-License-Identifier: Apache-2.0
"""Preferences from what a model itself wrote: its answers to tasks, judged on the twin.

What is right is preferred to what compiles and is wrong, to what does not compile, and to what is
right and slower. Where the model has no right answer, one that is known to be right stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import AbstractContextManager
from typing import Literal

import msgspec

from npuforge.errors import NpuforgeError
from npuforge.generate.live import LiveModule
from npuforge.generate.lm.answer import program_in
from npuforge.generate.lm.prompt.canonical import OPERATOR
from npuforge.generate.reference import ModuleProcess
from npuforge.train.dataset.record import GrownTask, Preference
from npuforge.train.judge import Bench, Judged, locked_up
from npuforge.train.operators.draw import draw
from npuforge.train.pool import pool
from npuforge.train.records import Message, as_dicts

_EACH = 2  # pairs of one kind for a task
_NOTABLE = 1.05  # times as slow, to be called slower


class Asked(msgspec.Struct, frozen=True):
    """A task, what a model answered, and an answer that is known to be right."""

    task: GrownTask
    answers: list[str]
    right: str | None = None


def question_of(prompt: Sequence[Message]) -> str:
    """What makes two prompts the same."""
    return msgspec.json.encode(as_dicts(prompt)).decode()


def preferences(asked: Sequence[Asked], jobs: int) -> Iterator[list[Preference]]:
    """The pairs of each task, as they come in."""
    with pool(jobs) as judges:
        for done in as_completed([judges.submit(pairs, one) for one in asked]):
            yield done.result()


def pairs(asked: Asked) -> list[Preference]:
    """All pairs that the answers to one task give; none where it cannot be judged."""
    task = asked.task
    try:
        with _opened(task) as module:
            bench = Bench(module)
            judged = {
                answer: bench.judge(answer, timed=True) for answer in dict.fromkeys(asked.answers)
            }
    except NpuforgeError:
        return []
    isolated = {answer: one for answer, one in judged.items() if one.isolated}
    return list(_pairs(task, isolated, asked.right))


def _opened(task: GrownTask) -> AbstractContextManager[ModuleProcess]:
    """In this process where it is an operator of our own making, locked up otherwise."""
    own = draw(task.origin.seed, task.origin.index).source == task.task.module
    if own:
        return LiveModule.of_text(task.task.module, OPERATOR)
    return locked_up(task.task.module)


def _pairs(
    task: GrownTask, judged: Mapping[str, Judged], known: str | None
) -> Iterator[Preference]:
    right = sorted(
        (answer for answer, one in judged.items() if one.correct),
        key=lambda answer: judged[answer].time_us or 0.0,
    )
    best = right[0] if right else known
    if best is None:
        return
    wrong = [answer for answer, one in judged.items() if one.compiled and not one.correct]
    refused = [answer for answer, one in judged.items() if not one.compiled and _said(answer)]
    slower = [
        answer
        for answer in right
        if (judged[answer].time_us or 0.0) > _NOTABLE * (judged[right[0]].time_us or 0.0)
    ]
    kinds: tuple[tuple[Literal["wrong", "refused", "slower"], list[str]], ...] = (
        ("wrong", wrong),
        ("refused", refused),
        ("slower", slower),
    )
    for why, answers in kinds:
        for answer in answers[:_EACH]:
            yield Preference(
                prompt=task.prompt,
                chosen=[Message("assistant", best)],
                rejected=[Message("assistant", answer)],
                why=why,
                origin=task.origin,
            )


def _said(answer: str) -> bool:
    """Whether there is a program at all: one that was cut off says nothing."""
    return re.search(r"^def \w+_host", program_in(answer), re.MULTILINE) is not None
