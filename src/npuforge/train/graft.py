# SPDX-License-Identifier: Apache-2.0
"""A trained model on another vocabulary, with all of its layers, some of them, or more.

What a model has learned of languages lies in its layers, most of its tokens are words that kernels
never have. With the tokenizer of the tile language it reads questions as a model from nothing does,
names apart, and is a fifth smaller; what a token means at first is the mean of what its text meant.
A layer that is added says nothing at first: a deeper model is the one it came from until it is
trained.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import msgspec

from npuforge.errors import UsageError
from npuforge.train.models import Opened, open_model, open_tokenizer


class Grafted(msgspec.Struct, frozen=True):
    """What came of it."""

    parameters: int
    layers: list[int]  # which of the old model's each is; one that is there again was added
    known: int  # tokens that its vocabulary has, too


def graft(model: str, tokenizer: Path, layers: int | None, out: Path) -> Grafted:
    """Put the model into the folder `out`, with so many layers, on this tokenizer."""
    import torch  # noqa: PLC0415
    from transformers import AutoModelForCausalLM  # noqa: PLC0415

    if (out / "config.json").exists():
        raise UsageError(f"{out} holds a model: give another folder")
    words = open_tokenizer(tokenizer)
    opened = open_model(model, None, "sdpa")
    old = opened.model
    if old.config.model_type != "llama":
        raise UsageError(f"a {old.config.model_type} is not taken apart: only Llamas are")
    kept = _spread(old.config.num_hidden_layers, layers)
    config = copy.deepcopy(old.config)
    config.num_hidden_layers = len(kept)
    config.vocab_size = len(words)
    config.bos_token_id, config.eos_token_id = words.bos_token_id, words.eos_token_id
    config.pad_token_id = words.pad_token_id
    new = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    pieces = _pieces(opened, words)
    with torch.no_grad():
        for mine, other in (
            (new.get_input_embeddings(), old.get_input_embeddings()),
            (new.get_output_embeddings(), old.get_output_embeddings()),
        ):
            means = [other.weight[piece].mean(0) for piece in pieces]
            mine.weight.copy_(torch.stack(means))
    for place, layer in enumerate(kept):
        new.model.layers[place].load_state_dict(old.model.layers[layer].state_dict())
        if layer in kept[:place]:
            _silence(new.model.layers[place])
    new.model.norm.load_state_dict(old.model.norm.state_dict())
    try:
        out.mkdir(parents=True, exist_ok=True)
        new.save_pretrained(out)
        words.save_pretrained(out)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None
    return Grafted(
        sum(weights.numel() for weights in new.parameters()),
        kept,
        len(words.get_vocab().keys() & opened.tokenizer.get_vocab().keys()),
    )


def _silence(layer: Any) -> None:
    """What a layer adds to what it is given is nothing, until it is trained."""
    import torch  # noqa: PLC0415

    with torch.no_grad():
        for last in (layer.self_attn.o_proj, layer.mlp.down_proj):
            last.weight.zero_()
            if last.bias is not None:
                last.bias.zero_()


def _spread(count: int, wanted: int | None) -> list[int]:
    """So many of the layers, the first and the last among them, evenly; each at most twice."""
    if wanted is None:
        return list(range(count))
    if not 2 <= wanted <= 2 * count:
        raise UsageError(f"this model has {count} layers: ask for 2 to {2 * count}")
    return [round(place * (count - 1) / (wanted - 1)) for place in range(wanted)]


def _pieces(opened: Opened, words: Any) -> list[list[int]]:
    """For each new token the old ones that its text consists of; all where there are none."""
    known = opened.tokenizer.get_vocab()
    found: list[list[int]] = []
    for token, name in enumerate(words.convert_ids_to_tokens(range(len(words)))):
        if name in known:
            found.append([known[name]])
            continue
        text = words.decode([token])
        pieces = opened.tokenizer(text, add_special_tokens=False)["input_ids"]
        found.append(pieces or list(range(len(opened.tokenizer))))
    return found
