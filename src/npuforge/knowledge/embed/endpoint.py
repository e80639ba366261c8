# SPDX-License-Identifier: Apache-2.0
"""Vectors from any server that speaks OpenAI's /embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

import msgspec
import numpy as np

from npuforge.errors import UsageError
from npuforge.knowledge.embed.vectors import Vectors, normalised
from npuforge.models.connection import MIB, Connection
from npuforge.models.endpoint import Endpoint
from npuforge.models.errors import ModelError
from npuforge.models.tries import refused, tried, where
from npuforge.models.wire.kinds import wire_of
from npuforge.untrusted.documents import decode_json

_AT_ONCE = 64
_MOST_BYTES = 32 * MIB
_WIDEST = 1 << 14


class _Vector(msgspec.Struct, frozen=True):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct, frozen=True):
    data: list[_Vector]


@dataclass(frozen=True, slots=True)
class EndpointEmbedder:
    """Failures are tried again as those of other requests to models are."""

    endpoint: Endpoint
    sleep: Callable[[float], None] | None = None

    @property
    def name(self) -> str:
        return where(self.endpoint)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each text."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        starts = range(0, len(texts), _AT_ONCE)
        with closing(Connection(self.endpoint)) as connection:
            made = [self._some(connection, texts[at : at + _AT_ONCE]) for at in starts]
        if len({part.shape[1] for part in made}) > 1:
            raise ModelError(f"{self.name}: its vectors differ in length")
        return normalised(np.concatenate(made))

    def _some(self, connection: Connection, texts: Sequence[str]) -> Vectors:
        sleep = self.sleep or connection.sleep
        answer = tried(lambda: self._once(connection, texts), self.endpoint, sleep)
        rows = {vector.index: vector.embedding for vector in answer.data}
        if sorted(rows) != list(range(len(texts))):
            raise ModelError(f"{self.name}: {len(rows)} vectors for {len(texts)} texts")
        if len({len(row) for row in rows.values()}) != 1 or not 0 < len(rows[0]) <= _WIDEST:
            raise ModelError(f"{self.name}: its vectors differ in length, or have none")
        with np.errstate(over="ignore"):
            vectors = np.array([rows[number] for number in range(len(texts))], np.float32)
        if not np.isfinite(vectors).all():
            raise ModelError(f"{self.name}: its vectors are not finite")
        return vectors

    def _once(self, connection: Connection, texts: Sequence[str]) -> _Answer:
        wire = wire_of("openai")
        url = f"{self.endpoint.base_url.rstrip('/')}/embeddings"
        body = {"model": self.endpoint.model, "input": list(texts)}
        with connection.post(url, wire.headers(self.endpoint.key), body) as response:
            if response.status != 200:
                refused(self.endpoint, response, wire.complaint)
            content = response.whole(_MOST_BYTES)
        try:
            return decode_json(content, _Answer, f"{self.name}: not an answer with embeddings")
        except UsageError as error:
            raise ModelError(str(error)) from None
