# SPDX-License-Identifier: Apache-2.0
"""Vectors of the shipped entries, made beforehand: a fresh store need not wait for the model.

    python -m npuforge.knowledge.prepared

writes them again, after `base/` changed. They are found by the text that was embedded; an entry
whose description changed since is embedded as any other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from npuforge.knowledge import shipped
from npuforge.knowledge.embed import Embedder, Vectors
from npuforge.knowledge.embed.packaged import PackagedEmbedder
from npuforge.knowledge.terms import description

_FILE = "vectors.npz"


def prepared(embedder: Embedder) -> Mapping[str, Vectors]:
    """By digest of the text; none where another embedder made them."""
    return _read(shipped.folder() / _FILE, embedder.name)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def write(embedder: Embedder) -> int:
    """Make those of all shipped entries; how many."""
    texts = [description(entry) for entry in shipped.entries()]
    np.savez_compressed(
        shipped.folder() / _FILE,
        embedder=np.array(embedder.name),
        digests=np.array([digest(text) for text in texts]),
        vectors=embedder.embed(texts).astype("<f2"),
    )
    _read.cache_clear()
    return len(texts)


@cache
def _read(path: Path, embedder: str) -> Mapping[str, Vectors]:
    if not path.is_file():
        return {}
    with np.load(path, allow_pickle=False) as held:
        if str(held["embedder"]) != embedder:
            return {}
        vectors = held["vectors"].astype(np.float32)
        return {str(name): row for name, row in zip(held["digests"], vectors, strict=True)}


if __name__ == "__main__":
    print(f"{write(PackagedEmbedder())} vectors written")
