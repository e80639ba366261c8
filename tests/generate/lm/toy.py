# SPDX-License-Identifier: Apache-2.0
"""A model too small to know anything, in the form that training leaves and as a GGUF file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import tokenizers
from safetensors.numpy import save_file
from tokenizers import decoders, models, pre_tokenizers

from npuforge.generate.lm.engine.model import ModelFile, read
from npuforge.train.export import Floats, export

BEGIN, END = "<|im_start|>", "<|im_end|>"
CHAT = (
    "{% for message in messages %}" + BEGIN + "{{ message.role }}\n{{ message.content }}" + END
    + "\n{% endfor %}" + BEGIN + "assistant\n"
)  # fmt: skip
MERGED = ("import", " tile", " tl", "tl.", "def ", "    ", "float32")
WIDTH, INNER, HEADS, KV_HEADS, CONTEXT = 32, 64, 4, 2, 8192


def words(*, marks: bool = True) -> tokenizers.Tokenizer:
    """Return a tokenizer of bytes, a few words of the language, and the marks of a conversation.
    With `marks`, those of thought are tokens, too."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: place for place, letter in enumerate(alphabet)}
    merges: list[tuple[str, str]] = []
    for word in MERGED:
        letters = word.replace(" ", "Ġ")
        for size in range(2, len(letters) + 1):
            if letters[:size] not in vocabulary:
                vocabulary[letters[:size]] = len(vocabulary)
                merges.append((letters[: size - 1], letters[size - 1]))
    found = tokenizers.Tokenizer(models.BPE(vocabulary, merges))
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    found.decoder = decoders.ByteLevel()
    found.add_special_tokens([BEGIN, END])
    thought = ("<think>", "</think>") if marks else ()
    found.add_tokens([tokenizers.AddedToken(text, normalized=False) for text in thought])
    return found


def folder(place: Path) -> Path:
    """As `npuforge train` leaves a model."""
    tokenizer = words()
    size = tokenizer.get_vocab_size()
    dice = np.random.default_rng(0)

    def weights(*shape: int) -> Floats:
        return np.asarray(dice.standard_normal(shape) * shape[-1] ** -0.5, np.float32)

    head = WIDTH // HEADS
    layer = "model.layers.0."
    tensors = {
        "model.embed_tokens.weight": weights(size, WIDTH),
        "model.norm.weight": np.ones(WIDTH, np.float32),
        layer + "input_layernorm.weight": np.ones(WIDTH, np.float32),
        layer + "post_attention_layernorm.weight": np.ones(WIDTH, np.float32),
        layer + "self_attn.q_proj.weight": weights(WIDTH, WIDTH),
        layer + "self_attn.k_proj.weight": weights(KV_HEADS * head, WIDTH),
        layer + "self_attn.v_proj.weight": weights(KV_HEADS * head, WIDTH),
        layer + "self_attn.o_proj.weight": weights(WIDTH, WIDTH),
        layer + "mlp.gate_proj.weight": weights(INNER, WIDTH),
        layer + "mlp.up_proj.weight": weights(INNER, WIDTH),
        layer + "mlp.down_proj.weight": weights(WIDTH, INNER),
    }
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": 1,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-5,
        "rope_theta": 5000.0,
        "tie_word_embeddings": True,
        "vocab_size": size,
    }
    place.mkdir(parents=True, exist_ok=True)
    save_file(tensors, place / "model.safetensors", metadata={"format": "pt"})
    (place / "config.json").write_text(json.dumps(config))
    tokenizer.save(str(place / "tokenizer.json"))
    said = {"eos_token": END, "pad_token": END, "tokenizer_class": "PreTrainedTokenizerFast"}
    (place / "tokenizer_config.json").write_text(json.dumps(said))
    (place / "chat_template.jinja").write_text(CHAT)
    return place


def model(place: Path) -> ModelFile:
    """The same as a file for llama.cpp."""
    file = place / "toy.gguf"
    export(folder(place / "toy"), file, "f16")
    return read(file)
