# SPDX-License-Identifier: Apache-2.0
"""What came of every use of an entry: what distillation goes by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from npuforge.knowledge.situation import Situation
from npuforge.knowledge.store import Store, now
from npuforge.untrusted.documents import decode_json

Effect = Literal["helped", "nothing", "harmed"]


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """An entry was before a model when it wrote. `worth` says how far a program came, the larger
    the better, in the order of its parts; `before` is the program that it started from."""

    entry: str
    task: str
    situation: Situation
    cause_before: str
    cause_after: str
    worth_before: tuple[float, ...]
    worth_after: tuple[float, ...]

    @property
    def effect(self) -> Effect:
        return effect_of(self.worth_before, self.worth_after)


@dataclass(frozen=True, slots=True)
class Record:
    """The uses of one entry."""

    uses: tuple[Use, ...]

    def of(self, effect: Effect) -> tuple[Use, ...]:
        return tuple(use for use in self.uses if use.effect == effect)

    @property
    def balance(self) -> int:
        """How much more often it helped than it harmed."""
        return len(self.of("helped")) - len(self.of("harmed"))

    def within(self, situations: Sequence[bool]) -> Record:
        """Only the uses that are marked."""
        return Record(tuple(use for use, kept in zip(self.uses, situations, strict=True) if kept))


def effect_of(before: Sequence[float], after: Sequence[float]) -> Effect:
    """Harmed: it came less far than the program before, or is right on fewer cases. What follows is
    speed, and an idea that makes a right program slower is dropped without harm."""
    if tuple(after) > tuple(before):
        return "helped"
    return "harmed" if tuple(after[:2]) < tuple(before[:2]) else "nothing"


def note(store: Store, uses: Iterable[Use]) -> None:
    """Keep what came of them."""
    rows = [
        (now(), use.entry, use.task, use.effect, msgspec.json.encode(use).decode()) for use in uses
    ]
    with store.transaction() as db:
        db.executemany("INSERT INTO uses VALUES (NULL, ?, ?, ?, ?, ?)", rows)


def record_of(store: Store, entry_id: str) -> Record:
    """All uses of an entry, oldest first."""
    rows = store.rows("SELECT use FROM uses WHERE entry = ? ORDER BY number", (entry_id,))
    return Record(
        tuple(decode_json(str(row[0]), Use, "a use in the store of knowledge") for row in rows)
    )


def totals(store: Store) -> dict[Effect, int]:
    """How many uses had which effect."""
    found = dict(store.rows("SELECT effect, count(*) FROM uses GROUP BY effect"))
    effects: tuple[Effect, ...] = ("helped", "nothing", "harmed")
    return {effect: found.get(effect, 0) for effect in effects}
