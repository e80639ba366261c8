# SPDX-License-Identifier: Apache-2.0
"""What is decided about two entries together.

CONFLICT    same subject, another choice, a tag and a place in common. A fact that tells where each
            helped makes boundaries that exclude each other; else the one that helped stays, else
            the one with the better evidence, else a model is asked
REDUNDANT   same subject and choice, nearly the same description: the better one takes over what
            the other says; without a subject a model is asked
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import msgspec
import numpy as np

from npuforge.knowledge.boundary import Boundary
from npuforge.knowledge.distill.decision import Bench, Decision
from npuforge.knowledge.distill.separate import separating
from npuforge.knowledge.distill.single import with_boundary
from npuforge.knowledge.entry import LEAST_RATIO, LONGEST_RATIONALE, Entry
from npuforge.knowledge.store import Put

NEAR = 0.92  # cosine of descriptions that say the same
_MOST_NEAR = 4096  # rows of the matrix at once


def conflicts(bench: Bench) -> Iterator[Decision]:
    """Each pair once; what is taken away by a decision is not asked about again."""
    gone: set[str] = set()
    for first, second in _opposed(bench.active()):
        if {first.id, second.id} & gone:
            continue
        decision = _settled(bench, first, second)
        gone |= {put.entry.id for put in decision.puts}
        yield decision


def redundant(bench: Bench) -> Iterator[Decision]:
    gone: set[str] = set()
    for first, second in _near(bench):
        if {first.id, second.id} & gone:
            continue
        decision = _merged_or_asked(bench, first, second)
        if decision is not None:
            gone |= {put.entry.id for put in decision.puts}
            yield decision


def _opposed(entries: list[Entry]) -> Iterator[tuple[Entry, Entry]]:
    subjects: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if entry.advises is not None:
            subjects.setdefault((entry.language, entry.advises.subject), []).append(entry)
    for alike in subjects.values():
        for first, second in combinations(alike, 2):
            assert first.advises is not None
            assert second.advises is not None
            if first.advises.choice != second.advises.choice and _meet(first, second):
                yield first, second


def _meet(first: Entry, second: Entry) -> bool:
    """Whether they share a tag and could be served in one situation."""
    if not set(first.tags) & set(second.tags):
        return False
    for name in ("operators", "dtypes", "soc"):
        own, other = getattr(first, name), getattr(second, name)
        if own and other and not set(own) & set(other):
            return False
    return not any(one.excludes(two) for one in first.boundary for two in second.boundary)


def _settled(bench: Bench, first: Entry, second: Entry) -> Decision:
    ids = (first.id, second.id)
    records = [bench.record(entry) for entry in (first, second)]
    helped = [[use.situation for use in record.of("helped")] for record in records]
    if (found := separating(*helped)) is not None:
        fact, condition = found
        choices = [entry.advises.choice for entry in (first, second) if entry.advises is not None]
        why = f"{choices[0]} helped where {fact} is {condition}, {choices[1]} elsewhere"
        puts = tuple(
            Put(with_boundary(entry, Boundary(fact, str(holds), why)))
            for entry, holds in ((first, condition), (second, condition.negated()))
        )
        return Decision("conflict", ids, "bound", why, puts)
    balances = [record.balance for record in records]
    for winner, loser, gain, loss in (
        (first, second, balances[0], balances[1]),
        (second, first, balances[1], balances[0]),
    ):
        if gain > 0 >= loss:
            why = f"{winner.id} helped {gain} times more often than it harmed, {loser.id} {loss}"
            return Decision("conflict", ids, "purge", why, (Put(loser, "purged"),))
    ratios = [_ratio(entry) for entry in (first, second)]
    for winner, loser, more, less in (
        (first, second, ratios[0], ratios[1]),
        (second, first, ratios[1], ratios[0]),
    ):
        if less and more >= less * LEAST_RATIO:
            why = f"{winner.id} gains a factor {more:g}, {loser.id} {less:g}"
            return Decision("conflict", ids, "supersede", why, (Put(loser, "superseded"),))
    return _judged(bench, first, second)


def _judged(bench: Bench, first: Entry, second: Entry) -> Decision:
    ids = (first.id, second.id)
    assert first.advises is not None
    open_ = f"they differ about {first.advises.subject}, and neither outcomes nor evidence decide"
    if bench.judge is None:
        return Decision("conflict", ids, "open", open_)
    verdict = bench.judge.of_two(first, second, open_)
    if verdict is None or verdict.action == "keep":
        return Decision("conflict", ids, "open", open_, by="model")
    entry = first if verdict.entry == first.id else second
    other = second if entry is first else first
    if verdict.action == "purge":
        return Decision("conflict", ids, "purge", verdict.why, (Put(entry, "purged"),), "model")
    if verdict.action == "merge":
        return Decision("conflict", ids, "merge", verdict.why, _merge(entry, other), "model")
    assert verdict.boundary is not None
    boundary = verdict.boundary
    opposite = Boundary(boundary.fact, str(boundary.condition.negated()), boundary.why)
    puts = (Put(with_boundary(entry, boundary)), Put(with_boundary(other, opposite)))
    return Decision("conflict", ids, "bound", verdict.why, puts, "model")


def _near(bench: Bench) -> Iterator[tuple[Entry, Entry]]:
    """Pairs of one language whose descriptions are nearly the same, the nearest first."""
    numbers, vectors = bench.index.vectors()
    ids = dict(bench.store.rows("SELECT number, id FROM entries WHERE state = 'active'"))
    known = {entry.id: entry for entry in bench.active()}
    pairs: list[tuple[float, str, str]] = []
    for start in range(0, len(numbers), _MOST_NEAR):
        likeness = vectors[start : start + _MOST_NEAR] @ vectors.T
        for row, column in np.argwhere(likeness >= NEAR):
            if start + row < column:
                one, two = (ids.get(int(numbers[n])) for n in (start + row, column))
                if one in known and two in known and one is not None and two is not None:
                    pairs.append((-float(likeness[row, column]), *sorted((one, two))))
    for _, one, two in sorted(pairs):
        if known[one].language == known[two].language:
            yield known[one], known[two]


def _merged_or_asked(bench: Bench, first: Entry, second: Entry) -> Decision | None:
    """None where they are not about the same."""
    ids = (first.id, second.id)
    if first.advises is not None and second.advises is not None:
        if first.advises != second.advises:
            return None
        kept, other = sorted((first, second), key=lambda entry: _rank(bench, entry))
        why = f"{other.id} says what {kept.id} says"
        return Decision("redundant", ids, "merge", why, _merge(kept, other))
    if bench.judge is None:
        return None
    open_ = "their descriptions are nearly the same"
    verdict = bench.judge.of_two(first, second, open_)
    if verdict is None or verdict.action != "merge":
        return None
    kept, other = (first, second) if verdict.entry == first.id else (second, first)
    return Decision("redundant", ids, "merge", verdict.why, _merge(kept, other), "model")


def _rank(bench: Bench, entry: Entry) -> tuple[int, float, str]:
    """The better one comes first."""
    return -bench.record(entry).balance, -_ratio(entry), entry.id


def _merge(kept: Entry, other: Entry) -> tuple[Put, Put]:
    """`kept` with its programs and boundaries, for whatever either was for."""

    def either(name: str) -> tuple[str, ...]:
        own, more = getattr(kept, name), getattr(other, name)
        return tuple(dict.fromkeys((*own, *more))) if own and more else ()

    rationale = kept.rationale
    longer = f"{rationale}\n\nAlso: {other.rationale}"
    if other.rationale not in rationale and len(longer) <= LONGEST_RATIONALE:
        rationale = longer
    merged = msgspec.structs.replace(
        kept,
        operators=either("operators"),
        dtypes=either("dtypes"),
        soc=either("soc"),
        tags=tuple(dict.fromkeys((*kept.tags, *other.tags))),
        identifiers=tuple(dict.fromkeys((*kept.identifiers, *other.identifiers))),
        rationale=rationale,
    )
    return Put(merged), Put(other, "superseded")


def _ratio(entry: Entry) -> float:
    return (entry.evidence.ratio or 0.0) if entry.evidence is not None else 0.0
