# SPDX-License-Identifier: Apache-2.0
"""The two axes of a store: names by BM25, meaning by the angle between vectors.

Both give numbers of entries, best first, as far as one wants them: what may be served is decided
by who reads them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from npuforge.errors import UsageError
from npuforge.knowledge.embed import Embedder, Vectors
from npuforge.knowledge.names import Names, best_first
from npuforge.knowledge.prepared import digest, prepared
from npuforge.knowledge.store import Store
from npuforge.knowledge.terms import description
from npuforge.knowledge.text import parse

_AT_ONCE = 256  # descriptions that are embedded before they are kept


@dataclass(frozen=True, slots=True)
class Passport:
    """What decides whether an entry is served; `scope` is its JSON, shared by those alike."""

    id: str
    scope: str


@dataclass
class Index:
    """Over the active entries of a store; follows its changes."""

    store: Store
    embedder: Embedder
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _revision: int = -1
    _embedded: int = -1
    _passports: dict[int, Passport] = field(default_factory=dict)
    _names: Names = field(init=False)
    _numbers: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    _vectors: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def __post_init__(self) -> None:
        self._names = Names(self.store)

    def by_name(self, text: str, context: str = "") -> Iterator[int]:
        """Entries that have the names of `text` (and less so of `context`), the rare ones before
        all."""
        with self._lock:
            scores = self._names.scores(text, context)
        numbers = np.flatnonzero(scores)
        return best_first(numbers, scores[numbers])

    def by_meaning(self, text: str) -> Iterator[int]:
        """Entries whose descriptions are near `text`."""
        if not text.strip():
            return iter(())
        numbers, vectors = self.vectors()
        if not len(numbers):
            return iter(())
        return best_first(numbers, vectors @ self.embedder.embed([text])[0])

    def ready(self) -> None:
        """Read everything now: for those who search again and again."""
        self.refresh()
        self.vectors()
        with self._lock:
            self._names.warm()

    def passport(self, number: int) -> Passport | None:
        """None for an entry that is not served any more."""
        return self._passports.get(number)

    def vectors(self) -> tuple[npt.NDArray[np.int64], Vectors]:
        """Numbers of the active entries, and their vectors in the same order."""
        with self._lock:
            self._read_vectors()
            return self._numbers, self._vectors

    def refresh(self) -> None:
        """Read who is served, after a change."""
        with self._lock:
            revision = self.store.revision
            if revision != self._revision:
                rows = self.store.rows(
                    "SELECT number, id, scope FROM entries WHERE state = 'active'"
                )
                self._passports = {
                    row[0]: Passport(str(row[1]), sys.intern(str(row[2]))) for row in rows
                }
                self._revision = revision

    def _read_vectors(self) -> None:
        """Embed what is new, and read what changed."""
        revision = self.store.revision
        if revision == self._embedded:
            return
        self._embed_missing()
        found = self.store.rows(
            "SELECT number, cast(vector AS BLOB) FROM vectors JOIN entries USING (number)"
            " WHERE state = 'active' ORDER BY number"
        )
        if len({len(row[1]) for row in found}) > 1 or any(len(row[1]) % 2 for row in found):
            raise UsageError(f"{self.store.path or 'the store'} holds vectors that are damaged")
        self._numbers = np.array([row[0] for row in found], np.int64)
        halves = np.frombuffer(b"".join(row[1] for row in found), "<f2")
        width = len(halves) // len(found) if found else 0
        self._vectors = halves.reshape(len(found), width).astype(np.float32)
        self._embedded = revision

    def _embed_missing(self) -> None:
        """A store knows who made its vectors; those of another are made again."""
        name = self.embedder.name
        stale = self.store.rows(
            "SELECT number, text FROM entries LEFT JOIN vectors USING (number)"
            " WHERE state = 'active' AND embedder IS NOT ?",
            (name,),
        )
        for start in range(0, len(stale), _AT_ONCE):
            part = stale[start : start + _AT_ONCE]
            texts = [description(parse(str(text))) for _, text in part]
            made = self._embedded_or_prepared(texts).astype("<f2")
            rows = [
                (number, name, vector.tobytes())
                for (number, _), vector in zip(part, made, strict=True)
            ]
            with self.store.transaction() as db:
                db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def _embedded_or_prepared(self, texts: list[str]) -> Vectors:
        known = prepared(self.embedder)
        new = [text for text in texts if digest(text) not in known]
        rows = iter(self.embedder.embed(new)) if new else iter(())
        found = [known[key] if (key := digest(text)) in known else next(rows) for text in texts]
        return np.stack(found)
