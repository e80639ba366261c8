# SPDX-License-Identifier: Apache-2.0
"""A fact that tells two groups of situations apart, as a condition of the grammar of boundaries.

WORDS      a type, operator or chip that all of one group have and none of the other
ALIGNED    a row in whole blocks of 32 bytes, or of other powers of two
SIZE       a number that lies beyond all of the other group; of several the widest gap

In this order: what the hardware treats differently in kind comes before what differs in size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npuforge.knowledge.boundary import Condition
from npuforge.knowledge.situation import Situation
from npuforge.knowledge.words import words

_WORDS = ("dtype", "operator", "soc")
_ALIGNED = (("row_bytes", (32, 64, 512, 16, 8)), ("row", (64, 16, 8)), ("elements", (64, 16, 8)))


def separating(
    inside: Sequence[Situation], outside: Sequence[Situation]
) -> tuple[str, Condition] | None:
    """A fact and a condition that holds for all of `inside` and none of `outside`."""
    if not inside or not outside:
        return None
    return next(_found(inside, outside), None)


def _found(
    inside: Sequence[Situation], outside: Sequence[Situation]
) -> Iterator[tuple[str, Condition]]:
    for fact in _WORDS:
        yield from ((fact, condition) for condition in _words(fact, inside, outside))
    for fact, steps in _ALIGNED:
        for condition in _aligned(steps):
            if _tells(fact, condition, inside, outside):
                yield fact, condition
    sized = [
        (gap, fact, condition)
        for fact in words().facts
        for gap, condition in _sizes(fact, inside, outside)
    ]
    for _, fact, condition in sorted(sized, key=lambda one: (-one[0], one[1])):
        yield fact, condition


def _words(
    fact: str, inside: Sequence[Situation], outside: Sequence[Situation]
) -> Iterator[Condition]:
    here = [set(situation.words(fact)) for situation in inside]
    there = [set(situation.words(fact)) for situation in outside]
    if not all(here) or not all(there):
        return
    any_here: set[str] = set().union(*here)
    any_there: set[str] = set().union(*there)
    if only := set.intersection(*here) - any_there:
        yield Condition("in", (min(only),))
    if only := set.intersection(*there) - any_here:
        yield Condition("not in", (min(only),))
    if all(len(one) == 1 for one in (*here, *there)) and not any_here & any_there:
        yield Condition("in", tuple(sorted(any_here)))


def _aligned(steps: Sequence[int]) -> Iterator[Condition]:
    for step in steps:
        yield Condition("multiple of", (step,))
        yield Condition("not multiple of", (step,))


def _tells(
    fact: str, condition: Condition, inside: Sequence[Situation], outside: Sequence[Situation]
) -> bool:
    here = [situation.facts.get(fact) for situation in inside]
    there = [situation.facts.get(fact) for situation in outside]
    return all(value is not None and condition.of_number(value) for value in here) and all(
        value is not None and not condition.of_number(value) for value in there
    )


def _sizes(
    fact: str, inside: Sequence[Situation], outside: Sequence[Situation]
) -> Iterator[tuple[float, Condition]]:
    """The bound is what was seen to be good, not what was seen to be bad."""
    here = [s.facts[fact] for s in inside if fact in s.facts]
    there = [s.facts[fact] for s in outside if fact in s.facts]
    if len(here) < len(inside) or len(there) < len(outside):
        return
    if max(here) < min(there):
        yield min(there) / max(1, *here), Condition("<=", (max(here),))
    if min(here) > max(there):
        yield min(here) / max(1, *there), Condition(">=", (min(here),))
