# SPDX-License-Identifier: Apache-2.0
"""A model in llama.cpp says what it says in the transformers library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tests.generate.lm import toy

from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.generate.lm.engine.engine import LlamaEngine
from npuforge.generate.lm.engine.model import read
from npuforge.generate.lm.engine.sampling import Sampling
from npuforge.train.export import export
from npuforge.train.models import open_model

CHAT = [{"role": "user", "content": "import tile.language as tl\nx = 128 * 3.5 # é\n    y\n"}]
GREEDY = Sampling(count=1, temperature=0, most=12)


@pytest.mark.parametrize("tied", [True, False])
def test_llama_cpp_and_transformers_agree(tied: bool, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415 (slow)

    place = toy.folder(tmp_path / "toy")
    if not tied:
        config = json.loads((place / "config.json").read_text())
        (place / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": False}))
        torch.manual_seed(1)
        model = AutoModelForCausalLM.from_pretrained(place)  # with a head of its own, at random
        torch.nn.init.normal_(model.lm_head.weight)
        model.save_pretrained(place)
    model = AutoModelForCausalLM.from_pretrained(place).eval()
    words = AutoTokenizer.from_pretrained(place)
    export(place, tmp_path / "toy.gguf", "f16")
    file = read(tmp_path / "toy.gguf")
    tokens = file.prompt(CHAT)
    text = words.apply_chat_template(CHAT, tokenize=False, add_generation_prompt=True)
    assert tokens == words(text, add_special_tokens=False)["input_ids"]
    # Parts of letters are not drawn.
    partial = list(file.vocabulary().partial)
    said = model.generate(
        torch.tensor([tokens]), max_new_tokens=12, do_sample=False, suppress_tokens=partial
    )
    with LlamaEngine(file) as engine:
        (sample,) = engine.draw(tokens, GREEDY).samples
    answer, end, _ = words.decode(said[0, len(tokens) :]).partition(toy.END)
    assert sample.ended is bool(end)
    assert sample.text == answer
    assert sample.text


def test_weights_of_eight_bits_are_smaller(tmp_path: Path) -> None:
    place = toy.folder(tmp_path / "toy")
    export(place, tmp_path / "half.gguf", "f16")
    assert main(["train", "export", str(place), str(tmp_path / "eight.gguf")]) == 0
    sizes = [(tmp_path / name).stat().st_size for name in ("half.gguf", "eight.gguf")]
    assert sizes[1] < sizes[0]
    with LlamaEngine(read(tmp_path / "eight.gguf")) as engine:
        assert engine.draw([1, 2, 3], GREEDY).samples[0].tokens > 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model_type": "gpt2"}, "only Llamas"),
        ({"rope_scaling": {"rope_type": "yarn"}}, "positions of kind 'yarn'"),
        ({"attention_bias": True}, "with biases"),
        ({"num_hidden_layers": 2}, "has no model.layers.1"),
    ],
)
def test_what_would_be_computed_otherwise_is_refused(
    change: dict[str, object], said: str, tmp_path: Path
) -> None:
    place = toy.folder(tmp_path / "toy")
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises(UsageError, match=said):
        export(place, tmp_path / "toy.gguf")
    (place / "config.json").unlink()
    with pytest.raises(UsageError, match="cannot read"):
        export(place, tmp_path / "toy.gguf")


def test_training_goes_on_from_the_file(tmp_path: Path) -> None:
    """Its weights, and the tokenizer it was trained with: that splits text in a way of its own."""
    place = toy.folder(tmp_path / "toy")
    export(place, tmp_path / "toy.gguf", "f16")
    folder = open_model(str(place), None, "sdpa")
    file = open_model(str(tmp_path / "toy.gguf"), None, "sdpa")
    for words in (folder.tokenizer, file.tokenizer):
        assert (words.eos_token, words.pad_token) == (toy.END, folder.tokenizer.pad_token)
    text = folder.tokenizer.apply_chat_template(CHAT, tokenize=False)
    assert file.tokenizer.apply_chat_template(CHAT, tokenize=False) == text
    tokens = folder.tokenizer(text)["input_ids"]
    assert file.tokenizer(text)["input_ids"] == tokens
    with torch.no_grad():
        want, got = (one.model(torch.tensor([tokens])).logits for one in (folder, file))
    torch.testing.assert_close(got, want, rtol=0.02, atol=0.02)
