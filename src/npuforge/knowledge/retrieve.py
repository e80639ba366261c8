# SPDX-License-Identifier: Apache-2.0
"""Entries for a failure: two rankings fused by reciprocal rank, within every entry's boundaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Literal

from npuforge.knowledge.entry import Entry
from npuforge.knowledge.index import Index
from npuforge.knowledge.query import Query
from npuforge.knowledge.scope import Scope
from npuforge.knowledge.text import parse
from npuforge.untrusted.documents import decode_json

Axes = Literal["both", "identifiers", "meaning"]
Form = Literal["entry", "plain"]
TOP = 6
_CONSTANT = 60  # of reciprocal rank fusion
_DEPTH = 50  # of each ranking


@dataclass(frozen=True, slots=True)
class Served:
    """An entry that was found, with its ranks from 1 on; None where an axis does not have it."""

    entry: Entry
    score: float
    name_rank: int | None
    meaning_rank: int | None

    def shown(self, form: Form = "entry") -> str:
        """For a prompt: all of it, or (`plain`) what is said without what is shown."""
        entry = self.entry
        parts = [f"### {entry.title}", entry.rationale]
        parts += [
            f"Only where {boundary.fact} is {boundary.holds}: {boundary.why}"
            for boundary in entry.boundary
        ]
        if form == "plain":
            return "\n\n".join(parts[:2])
        if entry.evidence is not None:
            parts.append(_measured(entry))
        language = "cpp" if entry.language == "ascendc" else "python"
        if entry.before:
            parts.append(f"Not so:\n```{language}\n{entry.shown(entry.before)}```")
        parts.append(f"But so:\n```{language}\n{entry.shown(entry.after)}```")
        return "\n\n".join(parts)


def retrieve(index: Index, query: Query, k: int = TOP, axes: Axes = "both") -> list[Served]:
    """The best `k`; those with equal scores in the order of their ids."""
    index.refresh()
    ranks: dict[int, list[int | None]] = {}
    if axes != "meaning":
        named = index.by_name(query.names, query.context)
        for rank, number in enumerate(_suiting(index, query, named), 1):
            ranks.setdefault(number, [None, None])[0] = rank
    if axes != "identifiers":
        meant = index.by_meaning(query.meaning)
        for rank, number in enumerate(_suiting(index, query, meant), 1):
            ranks.setdefault(number, [None, None])[1] = rank

    def score(number: int) -> float:
        return sum(1 / (_CONSTANT + rank) for rank in ranks[number] if rank is not None)

    best = sorted(ranks, key=lambda number: (-score(number), number))[:k]
    return [
        Served(entry, score(number), ranks[number][0], ranks[number][1])
        for number in best
        for entry in (_entry(index, number),)
        if entry is not None
    ]


def _suiting(index: Index, query: Query, numbers: Iterator[int]) -> Iterator[int]:
    """As far down as the ranking goes: what may not be served has no rank."""

    def suits(number: int) -> bool:
        found = index.passport(number)
        return (
            found is not None
            and found.id not in query.exclude
            and _scope(found.scope).suits(query.situation)
        )

    return islice((number for number in numbers if suits(number)), _DEPTH)


@lru_cache(maxsize=4096)
def _scope(text: str) -> Scope:
    return decode_json(text, Scope, "the scope of an entry in the store of knowledge")


def _entry(index: Index, number: int) -> Entry | None:
    """None where it went away in between."""
    found = index.store.rows(
        "SELECT text FROM entries WHERE number = ? AND state = 'active'", (number,)
    )
    return parse(str(found[0][0])) if found else None


def _measured(entry: Entry) -> str:
    evidence = entry.evidence
    assert evidence is not None
    said = f"On the twin of {evidence.soc}, {evidence.cases} cases: after, {evidence.after}"
    if evidence.after_us is not None:
        said += f" in {evidence.after_us:g} us"
    if evidence.before:
        said += f"; before, {evidence.before}"
        if evidence.before_us is not None:
            said += f" in {evidence.before_us:g} us"
    return f"{said}."
