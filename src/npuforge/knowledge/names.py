# SPDX-License-Identifier: Apache-2.0
"""BM25 over the names of entries, from the lists that FTS5 keeps.

FTS5's own function looks at every entry that has any of the names, one by one: 20 ms for a name
that 7000 have. Here the list of a name is read once, and ranking is arithmetic on arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from npuforge.errors import UsageError
from npuforge.knowledge.store import Store
from npuforge.knowledge.terms import terms

_WEIGHTS = {"head": 3.0, "code": 1.0}  # identifiers and title against names of the programs
_SATURATION = 1.2  # BM25's k1
_LENGTH = 0.75  # BM25's b
_CONTEXT = 0.1  # names around the failure against those in it
_MOST = 10_000_000  # the number of an entry, or of its terms
_OFTEN = 1000  # entries with a term beyond which its list is read beforehand

Numbers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]


@dataclass
class Names:
    """Over the active entries of a store."""

    store: Store
    _revision: int = -1
    _active: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    _norms: Scores = field(default_factory=lambda: np.zeros(0, np.float32))
    _lists: dict[str, tuple[Numbers, Scores]] = field(default_factory=dict)

    def scores(self, text: str, context: str = "") -> Scores:
        """By number of entry; nothing that is not active has one."""
        self._refresh()
        found = np.zeros(len(self._norms), np.float32)
        wanted = dict.fromkeys(terms(context), _CONTEXT) | dict.fromkeys(terms(text), 1.0)
        for term, weight in wanted.items():
            numbers, worth = self._list(term)
            found[numbers] += np.float32(weight) * worth
        return found

    def warm(self) -> None:
        """Read the long lists now: for those who search again and again."""
        self._refresh()
        for (term,) in self.store.rows("SELECT term FROM vocabulary WHERE doc > ?", (_OFTEN,)):
            self._list(term)

    def _refresh(self) -> None:
        revision = self.store.revision
        if revision == self._revision:
            return
        rows = self.store.rows("SELECT number, terms FROM entries WHERE state = 'active'")
        size = 1 + max((row[0] for row in rows), default=0)
        lengths_known = all(isinstance(row[1], int) and 0 <= row[1] < _MOST for row in rows)
        if not lengths_known or not 0 < size < _MOST or min((r[0] for r in rows), default=0) < 0:
            raise UsageError(f"{self.store.path or 'the store'} numbers its entries wrongly")
        lengths = np.zeros(size, np.float32)
        self._active = np.zeros(size, np.bool_)
        for number, length in rows:
            lengths[number] = length
            self._active[number] = True
        mean = float(lengths.sum()) / max(1, len(rows))
        self._norms = _SATURATION * (1 - _LENGTH + _LENGTH * lengths / max(1.0, mean))
        self._lists = {}
        self._revision = revision

    def _list(self, term: str) -> tuple[Numbers, Scores]:
        """The entries that have a term, and what it is worth in each."""
        if term not in self._lists:
            parts = [(self._read(column, term), weight) for column, weight in _WEIGHTS.items()]
            numbers = np.concatenate([part for part, _ in parts])
            counts = np.concatenate([np.full(len(part), weight) for part, weight in parts])
            total = int(self._active.sum())
            rarity = np.log(1 + (total - len(numbers) + 0.5) / (len(numbers) + 0.5))
            worth = counts * (_SATURATION + 1) / (counts + self._norms[numbers])
            self._lists[term] = numbers, (rarity * worth).astype(np.float32)
        return self._lists[term]

    def _read(self, column: str, term: str) -> Numbers:
        rows = self.store.rows(
            "SELECT rowid FROM words WHERE words MATCH ?", (f'{column} : "{term}"',)
        )
        numbers = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        numbers = numbers[numbers < len(self._active)]
        return numbers[self._active[numbers]]


def best_first(numbers: Numbers, scores: Scores, first: int = 256) -> Iterator[int]:
    """Numbers by falling score (the smaller number of equals first), as far as one reads."""
    size, seen = first, 0
    while seen < len(numbers):
        size = min(size, len(numbers))
        top = np.argpartition(-scores, size - 1)[:size]
        order = top[np.lexsort((numbers[top], -scores[top]))]
        yield from (int(number) for number in numbers[order][seen:])
        seen, size = size, size * 4
