# SPDX-License-Identifier: Apache-2.0
"""What operations were taught with: instructions and numbers, counted over programs that are right.

The guide holds a model's lines against it (`generate/lm/guide/facts/meaning.py`). What one program
alone does is left out, and so are the numbers of operations that divide by an extent, which may be
any.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from npuforge.generate.lm.form.grammar import ENDED
from npuforge.generate.lm.guide.facts.dataflow import Made
from npuforge.generate.lm.guide.facts.meaning import Known, Meaning
from npuforge.train.records import Chat

_LEAST = 10  # times an operation must be seen
_MOST_NUMBERS = 12
_SAID = 0.995  # share of the times that an operation's instructions have all numbers of its line


@dataclass(slots=True)
class _Seen:
    instructions: Counter[tuple[str, ...]] = field(default_factory=Counter)
    numbers: set[float] = field(default_factory=set)
    given: Counter[frozenset[float]] = field(default_factory=Counter)  # numbers, as operands
    said: int = 0  # times that its instructions had all of them

    def known(self) -> Known:
        ways = (list(way) for way, count in self.instructions.items() if count > 1)
        few = len(self.numbers) <= _MOST_NUMBERS
        varied = len(self.given) >= _LEAST  # the same number again tells nothing
        says = self.said >= _SAID * self.given.total() if varied else None
        return Known(sorted(ways), sorted(self.numbers) if few else None, says)


def operations(records: Iterable[Chat]) -> dict[str, Known]:
    """By operation, those that were seen often enough."""
    seen: defaultdict[str, _Seen] = defaultdict(_Seen)
    for record in records:
        for operation, made, given, others in _done(record):
            one = seen[operation]
            one.instructions[tuple(made.instructions)] += 1
            one.numbers |= made.numbers - others
            if given:
                one.given[frozenset(given)] += 1
                one.said += given <= made.numbers
    often = {name: one for name, one in seen.items() if one.instructions.total() >= _LEAST}
    return {name: often[name].known() for name in sorted(often)}


def joined(known: Mapping[str, Known], other: Mapping[str, Known]) -> dict[str, Known]:
    """What either knows."""
    found = {**other, **known}
    for name in known.keys() & other.keys():
        one, two = known[name], other[name]
        ways = {tuple(way) for way in (*one.instructions, *two.instructions)}
        numbers = {*(one.numbers or ()), *(two.numbers or ())}
        few = one.numbers is not None and two.numbers is not None and len(numbers) <= _MOST_NUMBERS
        numbered = sorted(numbers) if few else None
        says = {one.says, two.says} - {None}
        found[name] = Known(sorted(map(list, ways)), numbered, all(says) if says else None)
    return dict(sorted(found.items()))


def _done(record: Chat) -> Iterator[tuple[str, Made, set[float], set[float]]]:
    """Where a program computes a single operation of the question: how, the numbers that it was
    given, and all those of the question."""
    meaning = Meaning.read(record.messages[-2].content)
    program = record.messages[-1].content.partition(f"{ENDED}\n")[2]
    for step in (one for line in meaning.steps(program) for one in line):
        between = meaning.between_leaves(step) if step.whole else None
        if between is None:
            continue
        done = meaning.computed(between)
        if len(done) == 1 and all(meaning.operations[name] for name in between):
            yield done[0], step.made, meaning.given(between), meaning.numbers(between)
