# SPDX-License-Identifier: Apache-2.0
"""The tokens of a sample in other names and with other numbers.

What a kernel does with `v3` has nothing to do with the 3. A model that always reads `v3` where
three operations came before learns places by heart, and writes the `v3` of other programs; one that
has to look what a value is called today learns to look. So it is with numbers: the `0.56` of a
question is copied, whatever it is.

The tokenizer keeps names and digits apart (`tokenizer`), so that all of it is done on tokens, anew
each time a sample is learned from, and no sample becomes longer: two-letter names change places
with others of their kind, values with others of as many digits, and numbers get other digits.
"""

from __future__ import annotations

import re
from string import digits
from typing import Any

import numpy as np
import numpy.typing as npt

from npuforge.errors import UsageError
from npuforge.train.tokenizer import NAMES

Tokens = npt.NDArray[np.int64]

_WORDS = frozenset({"ne", "no"})  # which mean something else where they are no names
_PROBE = "# v12 = mul.Tensor(xa, 0.56): float32[na, nb]\nxa_in[:nb], v12_fold, k1_tile * na"
_LONG = 5  # decimals


class Renamer:
    """Draws other names for one sample after the other."""

    def __init__(self, tokenizer: Any, seed: int) -> None:
        known = tokenizer.get_vocab()
        if tokenizer.tokenize(_PROBE).count("xa") != _PROBE.count("xa"):
            raise UsageError("this tokenizer does not keep names apart: set renamed=false")
        self._rng = np.random.default_rng(seed)
        self._table = np.arange(len(tokenizer))
        self._kinds = [
            np.array([known[name] for name in names if name in known])
            for names in (_names("x"), _names("n"))
        ]
        self._digits = np.array([known[digit] for digit in digits])
        self._value, self._point = known["v"], known["."]
        self._of = np.full(len(tokenizer), -1)
        self._of[self._digits] = np.arange(10)
        self._reasoned = [known.get(tag, -1) for tag in ("<think>", "</think>")]
        texts = [tokenizer.decode([token]) for token in range(len(tokenizer))]
        self._ends_word = np.array([bool(re.search(r"[A-Za-z_.]$", text)) for text in texts])
        self._begins_word = np.array([bool(re.match(r"[A-Za-z]", text)) for text in texts])
        self._newline = known["\u010a"]  # as byte-level vocabularies write it
        self._marks = frozenset(token for text, token in known.items() if "#" in text)

    def __call__(self, ids: Tokens) -> Tokens:
        """The sample in names of its own."""
        table = self._table.copy()
        for kind in self._kinds:
            table[kind] = self._rng.permutation(kind)
        alone = self._alone(ids)
        made = np.where(alone, table[ids], ids)
        self._values(ids, alone, made)
        self._numbers(ids, made)
        return made

    def _alone(self, ids: Tokens) -> npt.NDArray[np.bool_]:
        """Where a token is no part of a longer word."""
        alone = np.ones(len(ids), np.bool_)
        alone[1:] &= ~self._ends_word[ids[:-1]]
        alone[:-1] &= ~self._begins_word[ids[1:]]
        return alone

    def _values(self, ids: Tokens, alone: npt.NDArray[np.bool_], made: Tokens) -> None:
        value = self._of[np.append(ids, [0, 0, 0])]
        at = np.flatnonzero((ids == self._value) & alone) + 1
        long = np.stack([value[at], value[at + 1], value[at + 2]])
        one = at[(long[0] >= 0) & (long[1] < 0)]
        made[one] = self._digits[self._rng.permutation(10)[value[one]]]
        two = at[(long[0] >= 1) & (long[1] >= 0) & (long[2] < 0)]
        other = self._rng.permutation(90)[10 * value[two] + value[two + 1] - 10] + 10
        made[two], made[two + 1] = self._digits[other // 10], self._digits[other % 10]

    def _numbers(self, ids: Tokens, made: Tokens) -> None:
        """Other digits for the question's numbers that the program has too, outside of quotes."""
        begun, ended = (int(np.argmax(ids == tag)) for tag in self._reasoned)
        places: dict[tuple[int, ...], list[int]] = {}
        for point in np.flatnonzero(ids == self._point):
            first, last = self._run(ids, int(point), -1), self._run(ids, int(point), 1)
            if first < point < last:
                places.setdefault(tuple(ids[first : last + 1].tolist()), []).append(first)
        for number, firsts in places.items():
            changing = self._changing(number)
            asked = any(place < begun for place in firsts)
            used = any(place > ended and self._is_code(ids, place) for place in firsts)
            if asked and used and changing:
                other = self._digits[self._rng.integers(1, 10, len(changing))]
                for place in firsts:
                    if not begun < place < ended:  # the reasoning has numbers of its own
                        made[np.add(changing, place)] = other

    def _changing(self, number: tuple[int, ...]) -> range:
        """Digits that may be others: decimals, or of a whole number all. A single digit may mean
        an operation of its own, and many decimals a constant."""
        point = number.index(self._point)
        decimals = len(number) - 1 - point
        if decimals == 1 and number[-1] == self._digits[0]:
            return range(point if point > 1 else 0)
        return range(point + 1, len(number)) if 1 < decimals < _LONG else range(0)

    def _run(self, ids: Tokens, point: int, step: int) -> int:
        """Where the digits end that begin beside the point."""
        place = point
        while 0 <= place + step < len(ids) and self._of[ids[place + step]] >= 0:
            place += step
        return place

    def _is_code(self, ids: Tokens, place: int) -> bool:
        """Whether it stands on a line that quotes nothing."""
        start = place
        while start > 0 and ids[start] != self._newline:
            start -= 1
        return self._marks.isdisjoint(ids[start:place].tolist())


def _names(kind: str) -> list[str]:
    return [name for name in NAMES if name.startswith(kind) and name not in _WORDS]
