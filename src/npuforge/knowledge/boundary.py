# SPDX-License-Identifier: Apache-2.0
"""Conditions under which an entry is served: one fact of a situation each, in a closed grammar.

    "<= 4096"  ">= 4096"  "multiple of 32"  "not multiple of 32"     facts that are numbers
    "in float16 bfloat16"  "not in float32"                          any fact; words in quotes where
                                                                     they have blanks

A fact that a situation does not know forbids nothing. Of a fact with several values (`dtype`,
`operator`) one that is listed is enough for `in`, and none may be listed for `not in`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from npuforge.errors import UsageError
from npuforge.knowledge.situation import Situation
from npuforge.knowledge.words import words

Kind = Literal["<=", ">=", "multiple of", "not multiple of", "in", "not in"]
_NUMERIC = re.compile(r"(<=|>=|multiple of|not multiple of) (-?\d{1,18})")
_LISTED = re.compile(r"(in|not in) (\S.*)")
_OPPOSITE: dict[Kind, Kind] = {
    "multiple of": "not multiple of",
    "not multiple of": "multiple of",
    "in": "not in",
    "not in": "in",
}
WORD_FACTS = ("dtype", "soc", "operator", "language")


@dataclass(frozen=True, slots=True)
class Condition:
    """`values` is one number for the numeric kinds, else the words (or numbers) that are listed."""

    kind: Kind
    values: tuple[int, ...] | tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind} {' '.join(shlex.quote(str(value)) for value in self.values)}"

    def of_number(self, value: int) -> bool:
        """Whether it holds for a number."""
        limit = self.values[0]
        if self.kind in ("in", "not in"):
            return (value in self.values) == (self.kind == "in")
        assert isinstance(limit, int)
        if self.kind == "<=":
            return value <= limit
        if self.kind == ">=":
            return value >= limit
        return (value % limit == 0) == (self.kind == "multiple of")

    def of_words(self, known: Sequence[str]) -> bool:
        """Whether it holds for words."""
        return any(word in self.values for word in known) == (self.kind == "in")

    def negated(self) -> Condition:
        """What holds exactly where this does not."""
        limit = self.values[0]
        if self.kind == "<=":
            assert isinstance(limit, int)
            return Condition(">=", (limit + 1,))
        if self.kind == ">=":
            assert isinstance(limit, int)
            return Condition("<=", (limit - 1,))
        return Condition(_OPPOSITE[self.kind], self.values)

    def excludes(self, other: Condition) -> bool:
        """Whether the two never hold for one value; False also where that is not seen."""
        if self == other.negated() or other == self.negated():
            return True
        if self.kind == "in" and other.kind == "in":
            return not set(self.values) & set(other.values)
        if self.kind == "in" and other.kind == "not in":
            return set(self.values) <= set(other.values)
        if self.kind == "not in" and other.kind == "in":
            return other.excludes(self)
        if {self.kind, other.kind} == {"<=", ">="}:
            low, high = (self, other) if self.kind == ">=" else (other, self)
            least, most = low.values[0], high.values[0]
            return isinstance(least, int) and isinstance(most, int) and most < least
        return False


class Boundary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Served only where `holds` is true of `fact`; `why` is a line for people and models."""

    fact: str
    holds: str
    why: str

    def __post_init__(self) -> None:
        if not self.why.strip() or not self.why.isprintable():
            raise UsageError(f"the boundary on {self.fact!r} needs a line that says why")
        condition_of(self.fact, self.holds)

    @property
    def condition(self) -> Condition:
        return condition_of(self.fact, self.holds)

    def allows(self, situation: Situation) -> bool:
        """Whether an entry with this boundary may be served there."""
        if self.fact in WORD_FACTS:
            known = situation.words(self.fact)
            return not known or self.condition.of_words(known)
        value = situation.facts.get(self.fact)
        return value is None or self.condition.of_number(value)

    def excludes(self, other: Boundary) -> bool:
        """Whether no situation that knows the fact satisfies both."""
        return self.fact == other.fact and self.condition.excludes(other.condition)


def condition_of(fact: str, holds: str) -> Condition:
    """The condition in `holds`; `UsageError` says what is wrong with it."""
    numeric = fact in words().facts
    if not numeric and fact not in WORD_FACTS:
        known = ", ".join((*WORD_FACTS, *words().facts))
        raise UsageError(f"no fact {fact!r}; facts: {known}")
    if (match := _LISTED.fullmatch(holds)) is not None:
        kind: Kind = "in" if match[1] == "in" else "not in"
        return Condition(kind, _listed(fact, match[2], numeric))
    match = _NUMERIC.fullmatch(holds)
    if match is None or not numeric:
        forms = "<= N, >= N, multiple of N, not multiple of N, " if numeric else ""
        raise UsageError(f"{fact}: no condition {holds!r}; there are {forms}in A B, not in A B")
    number = int(match[2])
    if number < 1 and "multiple" in match[1]:
        raise UsageError(f"{fact}: nothing is a multiple of {number}")
    return Condition(_numeric_kind(match[1]), (number,))


def _numeric_kind(text: str) -> Kind:
    kinds: dict[str, Kind] = {
        "<=": "<=", ">=": ">=", "multiple of": "multiple of", "not multiple of": "not multiple of",
    }  # fmt: skip
    return kinds[text]


def _listed(fact: str, text: str, numeric: bool) -> tuple[int, ...] | tuple[str, ...]:
    try:
        found = shlex.split(text)
    except ValueError:
        raise UsageError(f"{fact}: a quote is not closed in {text!r}") from None
    if not found:
        raise UsageError(f"{fact}: nothing is listed in {text!r}")
    if not numeric:
        if fact == "operator" and (unknown := [w for w in found if w not in words().operators]):
            raise UsageError(
                f"no operator {unknown[0]!r}; there are {', '.join(words().operators)}"
            )
        return tuple(found)
    try:
        return tuple(int(word) for word in found)
    except ValueError:
        raise UsageError(f"{fact} is a number; {text!r} lists something else") from None
