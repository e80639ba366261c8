# SPDX-License-Identifier: Apache-2.0
"""Lines of the dataset: chat and preference records, as TRL and `datasets` read them."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

from npuforge.train.records import Message

Source = Literal[
    "kernel", "variant", "ascendc", "project", "repair", "document", "preference",
]  # fmt: skip


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of a record: the random operator of `seed` and `index`, and its structure."""

    family: str = ""
    structure: str = ""
    seed: int = 0
    index: int = 0


class Chat(msgspec.Struct, frozen=True, kw_only=True, tag="chat"):
    messages: list[Message]
    source: Source
    origin: Origin


class Preference(msgspec.Struct, frozen=True, kw_only=True, tag="preference"):
    """`why`: the rejected one is `wrong` (and compiles), `slower` (and right) or `refused` (by the
    compiler)."""

    prompt: list[Message]
    chosen: list[Message]
    rejected: list[Message]
    why: Literal["wrong", "slower", "refused"]
    source: Source = "preference"
    origin: Origin


class JudgedBy(msgspec.Struct, frozen=True):
    """The judge's material: the module's text, and the best time that is known."""

    module: str
    best_us: float | None

    @property
    def name(self) -> str:
        """Return the name of the task, by which its completions are found."""
        return hashlib.sha256(self.module.encode()).hexdigest()[:16]


class GrownTask(msgspec.Struct, frozen=True, kw_only=True, tag="task"):
    """A question for reinforcement."""

    prompt: list[Message]
    task: JudgedBy
    origin: Origin


Record = Chat | Preference | GrownTask
