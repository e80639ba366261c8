# SPDX-License-Identifier: Apache-2.0
"""Vectors from any server that speaks OpenAI's /embeddings."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from npuforge.knowledge.embed.vectors import Vectors, normalised
from npuforge.models.endpoint import Endpoint
from npuforge.models.errors import ModelError
from npuforge.models.tries import lost, refused, tried, where
from npuforge.models.wire.kinds import wire_of

_AT_ONCE = 64
_CONNECT_S = 20.0


class _Vector(msgspec.Struct, frozen=True):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct, frozen=True):
    data: list[_Vector]


@dataclass(frozen=True, slots=True)
class EndpointEmbedder:
    """Failures are tried again as those of other requests to models are."""

    endpoint: Endpoint
    sleep: Callable[[float], None] = time.sleep

    @property
    def name(self) -> str:
        return where(self.endpoint)

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, 0), np.float32)
        starts = range(0, len(texts), _AT_ONCE)
        made = [self._some(texts[start : start + _AT_ONCE]) for start in starts]
        if len({part.shape[1] for part in made}) > 1:
            raise ModelError(f"{self.name}: its vectors differ in length")
        return normalised(np.concatenate(made))

    def _some(self, texts: Sequence[str]) -> Vectors:
        answer = tried(lambda: self._once(texts), self.endpoint, self.sleep)
        rows = {vector.index: vector.embedding for vector in answer.data}
        if sorted(rows) != list(range(len(texts))):
            raise ModelError(f"{self.name}: {len(rows)} vectors for {len(texts)} texts")
        if len({len(row) for row in rows.values()}) != 1 or not rows[0]:
            raise ModelError(f"{self.name}: its vectors differ in length")
        return np.array([rows[number] for number in range(len(texts))], np.float32)

    def _once(self, texts: Sequence[str]) -> _Answer:
        import httpx  # noqa: PLC0415 (only those who ask models pay for it)

        wire = wire_of("openai")
        try:
            response = httpx.post(
                f"{self.endpoint.base_url.rstrip('/')}/embeddings",
                headers=wire.headers(self.endpoint.key),
                json={"model": self.endpoint.model, "input": list(texts)},
                timeout=httpx.Timeout(self.endpoint.timeout_s, connect=_CONNECT_S),
            )
        except httpx.HTTPError as error:
            raise lost(self.endpoint, error) from None
        if response.status_code != 200:
            refused(self.endpoint, response, wire.complaint)
        try:
            return msgspec.json.decode(response.content, type=_Answer)
        except msgspec.DecodeError as error:
            raise ModelError(f"{self.name}: not an answer with embeddings: {error}") from None
