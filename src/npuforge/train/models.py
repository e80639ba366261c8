# SPDX-License-Identifier: Apache-2.0
"""Open what `--model` names: a folder, a GGUF file, or a configuration to begin from nothing."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import msgspec

from npuforge.errors import UsageError
from npuforge.generate.lm.engine.model import END, PAD, TEMPLATE, TOKENIZER, ModelFile, read
from npuforge.untrusted.documents import parse_toml
from npuforge.untrusted.inputs import read_input

Kind = Literal["folder", "gguf", "scratch"]


class Opened(msgspec.Struct):
    """A model and its tokenizer, in float32 on the CPU."""

    model: Any
    tokenizer: Any
    kind: Kind


def configurations() -> list[str]:
    """Configurations of the package."""
    folder = files(__package__).joinpath("configs")
    return sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml"))


def open_model(name: str, tokenizer: Path | None, attention: str) -> Opened:
    """The model of that name; `tokenizer` is a folder, needed where the model brings none."""
    path = Path(name)
    if name in configurations() or path.suffix == ".toml":
        return _scratch(name, tokenizer, attention)
    if path.suffix == ".gguf" and path.is_file():
        model = _load(path.parent, attention, gguf_file=path.name)
        return Opened(model, open_tokenizer(tokenizer or path), "gguf")
    if (path / "config.json").is_file():
        return Opened(_load(path, attention), open_tokenizer(tokenizer or path), "folder")
    raise UsageError(
        f"no model {name}: give a folder with config.json, a .gguf file, a .toml configuration"
        f" or one of {', '.join(configurations())}"
    )


def open_tokenizer(path: Path) -> Any:
    """The tokenizer of a folder or of a GGUF file."""
    from transformers import AutoTokenizer  # noqa: PLC0415

    gguf = read(path) if path.suffix == ".gguf" else None
    if gguf is None and not (path / "tokenizer.json").is_file():
        raise UsageError(f"no tokenizer in {path}: it has no tokenizer.json")
    try:
        if gguf is not None and TOKENIZER in gguf.head:
            found = _travelling(gguf)
        elif gguf is not None:
            found = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        else:
            found = AutoTokenizer.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the tokenizer of {path}: {error}") from error
    if found.eos_token is None or found.chat_template is None:
        raise UsageError(f"the tokenizer of {path} has no chat template or no end token")
    if found.pad_token is None:
        found.pad_token = found.eos_token
    return found


def _travelling(gguf: ModelFile) -> Any:
    """The tokenizer that a file of ours brings along: from the lists beside it, which are
    llama.cpp's, another one would be made, that splits text by another pattern."""
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    own = gguf.tokenizer()
    named = {
        name: own.id_to_token(gguf.head[place])
        for name, place in (("eos_token", END), ("pad_token", PAD))
        if place in gguf.head
    }
    return PreTrainedTokenizerFast(
        tokenizer_object=own,
        chat_template=gguf.head.get(TEMPLATE),
        clean_up_tokenization_spaces=False,
        **named,
    )


def _load(folder: Path, attention: str, **extra: str) -> Any:
    import torch  # noqa: PLC0415
    from transformers import AutoModelForCausalLM  # noqa: PLC0415

    how = {"dtype": torch.float32, "attn_implementation": attention}
    try:
        found = AutoModelForCausalLM.from_pretrained(folder, **how, **extra)
    except (OSError, ValueError, ImportError) as error:
        raise UsageError(
            f"cannot read the model {extra.get('gguf_file', folder)}: {error}"
        ) from error
    if "quantization_config" not in vars(found.config):
        return found
    # The weights of a GGUF file are plain numbers by now, but marked as not to be trained.
    del found.config.quantization_config
    plain = AutoModelForCausalLM.from_config(found.config, **how)
    plain.load_state_dict(found.state_dict())
    plain.generation_config = found.generation_config
    return plain


def _scratch(name: str, tokenizer: Path | None, attention: str) -> Opened:
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415

    if tokenizer is None:
        raise UsageError(f"{name} begins from nothing: give it a tokenizer with --tokenizer DIR")
    words = open_tokenizer(tokenizer)
    config = LlamaConfig(
        **_configuration(name),
        vocab_size=len(words),
        bos_token_id=words.bos_token_id,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
        attn_implementation=attention,
    )
    return Opened(LlamaForCausalLM(config), words, "scratch")


def _configuration(name: str) -> dict[str, Any]:
    if name in configurations():
        text = files(__package__).joinpath("configs", f"{name}.toml").read_bytes()
    else:
        text = read_input(Path(name))
    values = parse_toml(text, name)
    width, heads = values.get("hidden_size"), values.get("num_attention_heads")
    if not (isinstance(width, int) and isinstance(heads, int) and heads > 0 and width % heads == 0):
        raise UsageError(f"{name}: hidden_size is not a multiple of num_attention_heads")
    return values
