# SPDX-License-Identifier: Apache-2.0
"""A pretrained model on another vocabulary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.train import tokenizer
from npuforge.train.graft import graft
from npuforge.train.models import open_model

TEXT = "def op(x0, y):\n    tl.store(y, tl.exp(x0))\n"


@pytest.fixture(scope="module")
def larger(folder: Path) -> Path:
    """A tokenizer with words that the other has not."""
    chat = [
        {"role": "user", "content": "tl.gather tl.gather"},
        {"role": "assistant", "content": "gather_blocks"},
    ]
    (folder / "more.jsonl").write_text(json.dumps({"messages": chat}) + "\n")
    tokenizer.fit([folder / "chat.jsonl", folder / "more.jsonl"], 372, folder / "larger")
    return folder / "larger"


def test_the_same_vocabulary_and_layers_are_the_same_model(
    start: Path, folder: Path, tmp_path: Path
) -> None:
    made = graft(str(start), folder / "tokenizer", None, tmp_path / "same")
    before, after = (open_model(str(one), None, "sdpa") for one in (start, tmp_path / "same"))
    assert made.layers == [0, 1, 2]
    assert made.known == len(before.tokenizer)
    tokens = torch.tensor([before.tokenizer(TEXT)["input_ids"]])
    assert torch.equal(before.model(tokens).logits, after.model(tokens).logits)


def test_a_new_token_means_what_its_text_meant(start: Path, larger: Path, tmp_path: Path) -> None:
    out = tmp_path / "made"
    assert main(["train", "graft", str(start), str(out), "--tokenizer", str(larger)]) == 0
    before, after = (open_model(str(one), None, "sdpa") for one in (start, out))
    old, new = (one.model.get_input_embeddings().weight for one in (before, after))
    known = before.tokenizer.get_vocab()
    added = {name: at for name, at in after.tokenizer.get_vocab().items() if name not in known}
    assert added
    for at in added.values():
        pieces = before.tokenizer(after.tokenizer.decode([at]))["input_ids"]
        assert len(pieces) > 1
        assert torch.allclose(new[at], old[pieces].mean(0))
    for name, at in after.tokenizer.get_vocab().items():
        if name in known:
            assert torch.equal(new[at], old[known[name]])
    assert after.model.config.eos_token_id == after.tokenizer.eos_token_id


def test_layers_are_kept_evenly_with_the_first_and_the_last(
    start: Path, folder: Path, tmp_path: Path
) -> None:
    made = graft(str(start), folder / "tokenizer", 2, tmp_path / "two")
    assert made.layers == [0, 2]
    before, after = (open_model(str(one), None, "sdpa") for one in (start, tmp_path / "two"))
    for place, layer in enumerate(made.layers):
        kept = after.model.model.layers[place].state_dict()
        for name, weights in before.model.model.layers[layer].state_dict().items():
            assert torch.equal(weights, kept[name])
    with pytest.raises(UsageError, match="has 3 layers: ask for 2 to 6"):
        graft(str(start), folder / "tokenizer", 7, tmp_path / "seven")


@pytest.mark.parametrize("layers", [4, 5, 6])
def test_layers_that_are_added_change_nothing_until_they_are_trained(
    start: Path, folder: Path, tmp_path: Path, layers: int
) -> None:
    made = graft(str(start), folder / "tokenizer", layers, tmp_path / "deeper")
    assert sorted(set(made.layers)) == [0, 1, 2]
    assert made.layers == sorted(made.layers)
    assert len(made.layers) == layers
    before, after = (open_model(str(one), None, "sdpa") for one in (start, tmp_path / "deeper"))
    tokens = torch.tensor([before.tokenizer(TEXT)["input_ids"]])
    seen = after.model(tokens, labels=tokens)
    assert torch.allclose(before.model(tokens).logits, seen.logits, atol=1e-6)
    seen.loss.backward()
    for layer in after.model.model.layers:  # and all of them can be
        assert layer.self_attn.o_proj.weight.grad.abs().sum() > 0
        assert layer.mlp.down_proj.weight.grad.abs().sum() > 0


def test_what_is_there_is_not_written_over(start: Path, folder: Path, tmp_path: Path) -> None:
    before = (start / "config.json").read_bytes()
    with pytest.raises(UsageError, match="holds a model"):
        graft(str(start), folder / "tokenizer", 2, start)
    assert (start / "config.json").read_bytes() == before
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        graft(str(start), folder / "tokenizer", 2, tmp_path / "file" / "inside")
