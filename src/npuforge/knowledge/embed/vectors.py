# SPDX-License-Identifier: Apache-2.0
"""Vectors, and the interface of the models that make them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """`name` changes whenever the vectors do: a store makes them again then."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text."""


def normalised(vectors: Vectors) -> Vectors:
    """Rows of length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return result
