# SPDX-License-Identifier: Apache-2.0
"""What a strategy needs to know about the language that a model writes in."""

from __future__ import annotations

from typing import Protocol

from npuforge.generate.tuning import Trial
from npuforge.generate.written.feedback import Feedback
from npuforge.generate.written.task import Task
from npuforge.language import Language
from npuforge.models import Message, Reply

Made = tuple[Trial, Feedback | None]


class Dialect(Protocol):
    """`fence` is the word behind a block's opening marks, `form` what an answer has to look like,
    in a sentence. `forms` are the formats it can be handed over in; None for all."""

    @property
    def language(self) -> Language: ...

    @property
    def fence(self) -> str: ...

    @property
    def form(self) -> str: ...

    @property
    def forms(self) -> tuple[str, ...] | None: ...

    def brief(self, task: Task) -> list[Message]:
        """What a model has to know before it writes: the language, and the task."""
        ...

    def code(self, reply: Reply) -> str:
        """The program in a reply; `AnswerError` where there is none."""
        ...

    def make(self, task: Task, title: str, code: str) -> Made:
        """The program ready to be proven, or what is wrong with it."""
        ...
