# SPDX-License-Identifier: Apache-2.0
"""A model's word where rules cannot decide: asked once, believed only in the form asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from npuforge.errors import UsageError
from npuforge.knowledge.boundary import WORD_FACTS, Boundary
from npuforge.knowledge.entry import Entry
from npuforge.knowledge.outcomes import Record
from npuforge.knowledge.words import words
from npuforge.models import Client, Message
from npuforge.models.templates import rendered
from npuforge.untrusted.documents import decode_json

_OWN = Path(__file__).parent / "prompts"
_JSON = re.compile(r"\{.*\}", re.DOTALL)
_LONGEST_WHY = 200

Action = Literal["keep", "purge", "bound", "merge"]


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    action: Action
    why: str
    entry: str = ""
    fact: str = ""
    holds: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """What a model decides. `entry` is the one that is purged, bounded, or kept in a merger."""

    action: Action
    entry: str
    why: str
    boundary: Boundary | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """`prompts` is a folder whose templates replace ours."""

    client: Client
    prompts: Path | None = None

    def of_one(self, entry: Entry, record: Record, open_: str) -> Word | None:
        """keep, purge or bound; None for an answer that is none of them."""
        return self._ask("one", [entry], ("keep", "purge", "bound"), entry=entry, record=record,
                         question=open_)  # fmt: skip

    def of_two(self, first: Entry, second: Entry, open_: str) -> Word | None:
        """keep (both), purge, bound (the other gets the opposite) or merge."""
        return self._ask("two", [first, second], ("keep", "purge", "bound", "merge"),
                         first=first, second=second, question=open_)  # fmt: skip

    def _ask(
        self, name: str, entries: Sequence[Entry], actions: Sequence[Action], **values: Any
    ) -> Word | None:
        text = rendered(
            _OWN,
            name,
            self.prompts,
            facts={**dict.fromkeys(WORD_FACTS, "a word"), **words().facts},
            **values,
        )
        reply = self.client.ask([Message("user", text)], purpose=f"distill {name}", temperature=0.0)
        return _word(reply.text, [entry.id for entry in entries], actions)


def _word(text: str, ids: Sequence[str], actions: Sequence[Action]) -> Word | None:
    found = _JSON.search(text)
    if found is None:
        return None
    try:
        answer = decode_json(found[0], _Answer, "the answer")
    except UsageError:
        return None
    entry = answer.entry or (ids[0] if len(ids) == 1 else "")
    why = " ".join(answer.why.split())[:_LONGEST_WHY]
    if answer.action not in actions or not why or not why.isprintable():
        return None
    if answer.action != "keep" and entry not in ids:
        return None
    if answer.action != "bound":
        return Word(answer.action, entry, why)
    try:
        return Word("bound", entry, why, Boundary(answer.fact, answer.holds, why))
    except UsageError:
        return None
