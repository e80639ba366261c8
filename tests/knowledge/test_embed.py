# SPDX-License-Identifier: Apache-2.0
"""Vectors of texts, from the packaged model, an endpoint, or letters alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models.server import Answer, serving

from npuforge.errors import UsageError
from npuforge.knowledge.embed import Embedder, choose
from npuforge.knowledge.embed.endpoint import EndpointEmbedder
from npuforge.knowledge.embed.hashed import HashedEmbedder
from npuforge.knowledge.embed.packaged import PackagedEmbedder, installed
from npuforge.models.endpoint import Endpoint
from npuforge.models.errors import ModelError
from npuforge.models.secret import Secret

_TEXTS = [
    "bytes moved between global memory and the unified buffer",
    "DataCopy needs lengths that are a multiple of 32 bytes",
    "The copy must be aligned to a block of 32 bytes.",
    "Sort the elements of each row",
]
needs_model = pytest.mark.skipif(not installed(), reason="the packaged model is not installed")


def _by_torch(embedder: PackagedEmbedder, text: str) -> Any:
    """The same model with torch's own functions, one text at a time."""
    import torch  # noqa: PLC0415
    import torch.nn.functional as fn  # noqa: PLC0415

    w = {name: torch.from_numpy(value) for name, value in embedder._weights.items()}
    ids = torch.tensor(embedder._tokenizer.encode(text).ids)

    def linear(x: Any, name: str) -> Any:
        return fn.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    def norm(x: Any, name: str) -> Any:
        return fn.layer_norm(x, (384,), w[f"{name}.weight"], w[f"{name}.bias"], 1e-12)

    def heads(x: Any) -> Any:
        return x.reshape(len(ids), 12, 32).transpose(0, 1)

    e = "embeddings"
    x = w[f"{e}.word_embeddings.weight"][ids] + w[f"{e}.position_embeddings.weight"][: len(ids)]
    x = norm(x + w[f"{e}.token_type_embeddings.weight"][0], f"{e}.LayerNorm")
    for n in range(6):
        at = f"encoder.layer.{n}"
        parts = (heads(linear(x, f"{at}.attention.self.{p}")) for p in ("query", "key", "value"))
        seen = fn.scaled_dot_product_attention(*parts).transpose(0, 1).reshape(len(ids), 384)
        x = norm(
            x + linear(seen, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm"
        )
        inner = fn.gelu(linear(x, f"{at}.intermediate.dense"))
        x = norm(x + linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    return fn.normalize(x.mean(0), dim=0).numpy()


@needs_model
def test_the_packaged_model_computes_what_torch_computes() -> None:
    embedder = PackagedEmbedder()
    long = " ".join(_TEXTS * 20)  # is cut off
    found = embedder.embed([*_TEXTS, long])
    for row, text in zip(found, [*_TEXTS, long], strict=True):
        np.testing.assert_allclose(row, _by_torch(embedder, text), atol=2e-6)
    assert found[1] @ found[2] > found[1] @ found[3] + 0.2


def test_letters_alone_see_likeness_of_spelling() -> None:
    embedder = HashedEmbedder()
    found = embedder.embed([*_TEXTS, ""])
    assert found[1] @ found[2] > found[1] @ found[3]
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [1, 1, 1, 1, 0], atol=1e-6)
    np.testing.assert_array_equal(embedder.embed(_TEXTS[:1]), found[:1])


def test_an_endpoint_gives_vectors_in_the_order_of_the_texts() -> None:
    rows = [{"index": 1, "embedding": [0.0, 2.0]}, {"index": 0, "embedding": [3.0, 4.0]}]
    busy = Answer(status=503, body={"error": {"message": "busy"}})
    with serving(busy, Answer(body={"data": rows})) as served:
        waited: list[float] = []
        embedder = EndpointEmbedder(
            Endpoint(model="small", base_url=served.base, key=Secret("secret-key")), waited.append
        )
        np.testing.assert_allclose(embedder.embed(["a", "b"]), [[0.6, 0.8], [0.0, 1.0]])
    assert len(waited) == 1
    assert served.paths[-1].endswith("/embeddings")
    assert served.requests[-1] == {"model": "small", "input": ["a", "b"]}
    assert served.headers[-1]["authorization"] == "Bearer secret-key"
    assert embedder.embed([]).shape[0] == 0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(body={"data": []}), "0 vectors for 2 texts"),
        (Answer(body={"vectors": 1}), "not an answer with embeddings"),
        (
            Answer(
                body={"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": [1.0]}]}
            ),
            "differ in length",
        ),
        (Answer(status=401, body={"error": {"message": "key secret-key is bad"}}), "key \\*\\*\\*"),
    ],
)
def test_other_answers_are_refused(answer: Answer, said: str) -> None:
    with serving(answer) as served:
        endpoint = Endpoint(model="small", base_url=served.base, key=Secret("secret-key"))
        with pytest.raises(ModelError, match=said):
            EndpointEmbedder(endpoint).embed(["a", "b"])


def test_the_setting_chooses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def name(**around: str) -> str:
        chosen: Embedder = choose({"HOME": str(tmp_path), **around})
        return chosen.name

    monkeypatch.chdir(tmp_path)
    assert name(NPUFORGE_EMBEDDINGS="hashed").startswith("hashed")
    assert name(NPUFORGE_EMBEDDINGS="e5", NPUFORGE_EMBEDDINGS_BASE_URL="http://h/v1") == (
        "e5 at http://h/v1"
    )
    assert name().startswith("packaged" if installed() else "hashed")
    own = tmp_path / ".config" / "npuforge"
    own.mkdir(parents=True)
    (own / "npuforge.toml").write_text(
        '[embeddings]\nname = "qwen"\nbase_url = "https://q"\nkey_env = "Q"\n', "utf-8"
    )
    chosen = choose({"HOME": str(tmp_path), "Q": "key-of-q"})
    assert isinstance(chosen, EndpointEmbedder)
    assert chosen.name == "qwen at https://q"
    assert chosen.endpoint.key == Secret("key-of-q")


def test_a_missing_model_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npuforge.knowledge.embed.packaged.find_spec", lambda _name: None)
    assert not installed()
    assert choose({}).name.startswith("hashed")
    with pytest.raises(UsageError, match="not installed"):
        choose({"NPUFORGE_EMBEDDINGS": "packaged"})
