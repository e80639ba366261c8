# SPDX-License-Identifier: Apache-2.0
"""Vectors without a model: counts of the letters in words, three to five at a time."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from npuforge.knowledge.embed.vectors import Vectors, normalised

_WORD = re.compile(r"[a-z0-9_]+")
_SIZES = (3, 4, 5)


@dataclass(frozen=True, slots=True)
class HashedEmbedder:
    """Likeness of spelling, not of meaning: words that share their stem are near."""

    dimensions: int = 512

    @property
    def name(self) -> str:
        return f"hashed n-grams, {self.dimensions}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        found = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(found, texts, strict=True):
            for piece, count in Counter(_pieces(text)).items():
                code = zlib.crc32(piece.encode())
                sign = 1.0 if code & 1 else -1.0  # pieces that meet cancel instead of adding up
                row[(code >> 1) % self.dimensions] += sign * (1.0 + np.log(count))
        return normalised(found)


def _pieces(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.lower()):
        yield f" {word} "
        marked = f"<{word}>"
        for size in _SIZES:
            for start in range(len(marked) - size + 1):
                yield marked[start : start + size]
