# SPDX-License-Identifier: Apache-2.0
"""A trained model as one GGUF file: what `npuforge generate --strategy lm` runs.

From a folder of a Llama in the transformers library's form. Its tokenizer travels along as it is:
llama.cpp splits text by patterns of its own, and a model must read its questions exactly as it did
in training.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from npuforge.errors import UsageError
from npuforge.generate.lm.engine.model import TOKENIZER
from npuforge.untrusted.documents import decode_json
from npuforge.untrusted.inputs import read_input

Weights = Literal["q8_0", "f16"]
Floats = npt.NDArray[np.float32]

_OUTER = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
_OF_LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_INDEX = "model.safetensors.index.json"
_WHOLE = "model.safetensors"
# Of llama.cpp's ways to split a text, the one that SmolLM2's tokenizer has too, and any other: only
# programs that pass over the tokenizer that travels along read this.
_SMOLLM, _PLAIN = "smollm", "gpt-2"
_NORMAL, _CONTROL, _USER, _UNUSED = 1, 3, 4, 5


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a Llama."""

    layers: int
    width: int
    inner: int
    heads: int
    kv_heads: int
    head: int
    context: int
    vocabulary: int
    theta: float
    epsilon: float
    tied: bool

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Shape:
        """`UsageError` for what llama.cpp would compute otherwise."""
        if config.get("model_type") != "llama":
            raise UsageError(f"a {config.get('model_type')} is not exported: only Llamas are")
        rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
        kind = rope.get("rope_type", rope.get("type", "default"))
        if kind != "default":
            raise UsageError(f"positions of kind {kind!r} are not exported")
        if config.get("attention_bias") or config.get("mlp_bias"):
            raise UsageError("a Llama with biases is not exported")
        if config.get("hidden_act", "silu") != "silu":
            raise UsageError(f"the activation {config['hidden_act']!r} is not exported")
        heads = config["num_attention_heads"]
        return cls(
            layers=config["num_hidden_layers"],
            width=config["hidden_size"],
            inner=config["intermediate_size"],
            heads=heads,
            kv_heads=config.get("num_key_value_heads") or heads,
            head=config.get("head_dim") or config["hidden_size"] // heads,
            context=config["max_position_embeddings"],
            vocabulary=config["vocab_size"],
            theta=float(rope.get("rope_theta", config.get("rope_theta", 10000.0))),
            epsilon=config["rms_norm_eps"],
            tied=bool(config.get("tie_word_embeddings")),
        )


def export(folder: Path, out: Path, weights: Weights = "q8_0") -> None:
    """The model and tokenizer in `folder` as the file `out`."""
    shape = _shape(folder)
    words = _json(folder / "tokenizer.json")
    settings = _json(folder / "tokenizer_config.json")
    template = folder / "chat_template.jinja"
    chat = template.read_text("utf-8") if template.is_file() else settings.get("chat_template")
    if not isinstance(chat, str):
        raise UsageError(f"{folder} has no chat template")
    writer = _writer(out, folder, shape)
    _describe(writer, shape)
    _speak(writer, words, settings, shape.vocabulary, chat)
    for name, values in _tensors(folder, shape):
        _add(writer, name, values, weights)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None
    finally:
        writer.close()


def _shape(folder: Path) -> Shape:
    try:
        return Shape.of(_json(folder / "config.json"))
    except KeyError as error:
        raise UsageError(f"{folder / 'config.json'} does not say {error}") from None


def _writer(out: Path, folder: Path, shape: Shape) -> Any:
    try:
        import gguf  # noqa: PLC0415 (optional)
    except ImportError:
        raise UsageError("gguf is not installed: pip install 'npuforge[train]'") from None
    writer = gguf.GGUFWriter(out, "llama")
    writer.add_name(folder.resolve().name)
    writer.add_vocab_size(shape.vocabulary)
    return writer


def _describe(writer: Any, shape: Shape) -> None:
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.inner)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head)
    writer.add_value_length(shape.head)
    writer.add_rope_dimension_count(shape.head)
    writer.add_rope_freq_base(shape.theta)
    writer.add_layer_norm_rms_eps(shape.epsilon)


def _speak(
    writer: Any,
    words: Mapping[str, Any],
    settings: Mapping[str, Any],
    size: int,
    chat: str,
) -> None:
    """The tokenizer, as it is and as llama.cpp has it."""
    model = words["model"]
    if model.get("type") != "BPE":
        raise UsageError(f"a tokenizer of type {model.get('type')} is not exported: only BPE is")
    added = {entry["id"]: entry for entry in words.get("added_tokens", ())}
    tokens = [f"[unused{place}]" for place in range(size)]
    kinds = [_UNUSED] * size
    for text, place in model["vocab"].items():
        tokens[place], kinds[place] = text, _NORMAL
    for place, entry in added.items():
        tokens[place] = entry["content"]
        kinds[place] = _CONTROL if entry["special"] else _USER
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(_splitting(words.get("pre_tokenizer")))
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    writer.add_token_merges(merges)
    places = {entry["content"]: place for place, entry in added.items()}
    for name, add in (
        ("bos_token", writer.add_bos_token_id),
        ("eos_token", writer.add_eos_token_id),
        ("pad_token", writer.add_pad_token_id),
    ):
        said = settings.get(name)
        text = said.get("content") if isinstance(said, dict) else said
        if text in places:
            add(places[text])
        elif name == "eos_token":
            raise UsageError("the tokenizer has no end token")
    writer.add_add_bos_token(False)
    writer.add_chat_template(chat)
    writer.add_string(TOKENIZER, json.dumps(words, ensure_ascii=False))


def _splitting(pre: Mapping[str, Any] | None) -> str:
    parts = (pre or {}).get("pretokenizers", [pre] if pre else [])
    kinds = [part["type"] for part in parts]
    if kinds == ["Digits", "ByteLevel"]:
        digits, letters = parts
        if digits["individual_digits"] and letters["use_regex"]:
            return _SMOLLM
    return _PLAIN


def _tensors(folder: Path, shape: Shape) -> Iterator[tuple[str, Floats]]:
    wanted = {old: new for old, new in _OUTER.items() if new != "output.weight" or not shape.tied}
    for layer in range(shape.layers):
        for old, new in _OF_LAYER.items():
            wanted[f"model.layers.{layer}.{old}.weight"] = f"blk.{layer}.{new}.weight"
    found = dict(_read(folder, wanted))
    missing = sorted(set(wanted) - set(found))
    if missing:
        raise UsageError(f"{folder} has no {missing[0]}")
    for old, new in wanted.items():
        values = found[old]
        if new.endswith("attn_q.weight"):
            values = _paired(values, shape.heads)
        elif new.endswith("attn_k.weight"):
            values = _paired(values, shape.kv_heads)
        yield new, values


def _paired(values: Floats, heads: int) -> Floats:
    """Rows of a head's two halves side by side: llama.cpp turns neighbours, transformers halves."""
    rows, width = values.shape
    halves = values.reshape(heads, 2, rows // heads // 2, width)
    return halves.swapaxes(1, 2).reshape(rows, width)


def _read(folder: Path, wanted: Mapping[str, str]) -> Iterator[tuple[str, Floats]]:
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415 (optional)

    names = [_WHOLE]
    if (folder / _INDEX).is_file():
        names = sorted(set(_json(folder / _INDEX)["weight_map"].values()))
    with ExitStack() as held:
        for name in names:
            try:
                file = held.enter_context(safe_open(folder / name, framework="pt"))
            except (OSError, SafetensorError) as error:
                raise UsageError(f"cannot read {folder / name}: {error}") from None
            for key in file.keys():  # noqa: SIM118 (it is no mapping)
                if key in wanted:
                    yield key, file.get_tensor(key).float().numpy()


def _add(writer: Any, name: str, values: Floats, weights: Weights) -> None:
    import gguf  # noqa: PLC0415 (optional)

    if values.ndim == 1:
        writer.add_tensor(name, values)
        return
    kind = gguf.GGMLQuantizationType[weights.upper()]
    if values.shape[-1] % gguf.GGML_QUANT_SIZES[kind][0]:
        kind = gguf.GGMLQuantizationType.F16
    writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)


_LIMIT = 1 << 28  # of a tokenizer's file


def _json(path: Path) -> Any:
    return decode_json(read_input(path, _LIMIT), Any, path)
