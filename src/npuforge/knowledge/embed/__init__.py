# SPDX-License-Identifier: Apache-2.0
"""Vectors of texts: near ones mean alike.

The packaged model is the default; where it is not installed, hashed n-grams stand in. The setting
`NPUFORGE_EMBEDDINGS` (or `name` under [embeddings] in npuforge.toml) names `packaged`, `hashed`, or
a model behind an endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from npuforge.knowledge.embed.vectors import Embedder, Vectors, normalised
from npuforge.models.endpoint import embeddings_endpoint, embeddings_name

__all__ = ["Embedder", "Vectors", "choose", "normalised"]


def choose(environment: Mapping[str, str] | None = None, file: Path | None = None) -> Embedder:
    """The embedder that is asked for, or the best one that is here."""
    from npuforge.knowledge.embed.endpoint import EndpointEmbedder  # noqa: PLC0415
    from npuforge.knowledge.embed.hashed import HashedEmbedder  # noqa: PLC0415
    from npuforge.knowledge.embed.packaged import PackagedEmbedder, installed  # noqa: PLC0415

    wanted = embeddings_name(environment, file)
    if wanted == "hashed" or (wanted is None and not installed()):
        return HashedEmbedder()
    if wanted in ("packaged", None):
        return PackagedEmbedder()
    assert wanted is not None
    return EndpointEmbedder(embeddings_endpoint(wanted, environment, file))
