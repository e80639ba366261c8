# SPDX-License-Identifier: Apache-2.0
"""Recipes: the hyper-parameters of a training, as data.

A recipe is a TOML file with a table for each method (`sft`, `dpo`, `grpo`). Recipes named without a
path come with the package. A file of the user's says only what differs from the recipe that its
`base` names (`paper` unless told).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from npuforge.errors import UsageError
from npuforge.untrusted.documents import parse_toml
from npuforge.untrusted.inputs import is_plain_file, read_input

DEFAULT = "paper"


class Common(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """What every method has."""

    learning_rate: float
    lora_learning_rate: float
    schedule: Literal["cosine", "linear", "constant", "constant_with_warmup"]
    warmup: float  # of the steps
    weight_decay: float
    beta2: float  # of Adam
    grad_clip: float
    max_steps: int  # 0: as many as the epochs have
    epochs: float
    micro: int  # sequences at once on a device; the rest of a batch is accumulated
    seed: int
    lora_rank: int
    lora_alpha: float
    lora_dropout: float
    attention: str  # as transformers names it: sdpa, flex_attention, ...
    compile: bool  # torch.compile, on a GPU
    checkpointing: bool  # of activations: less memory, more work
    weights: Literal["float32", "bfloat16"]  # of the model saved at the end
    log_every: int
    save_every: int
    keep: int  # checkpoints


class Sft(Common, kw_only=True, frozen=True):
    """Supervised fine-tuning, or training from nothing."""

    scratch_learning_rate: float
    sequence: int  # tokens of a packed row; longer samples are left out
    batch_tokens: int
    renamed: bool  # samples in other names and numbers each time
    reasoning: bool  # whether answers keep what stands between <think> and </think>


class Dpo(Common, kw_only=True, frozen=True):
    """Direct preference optimisation."""

    beta: float
    sequence: int  # tokens of prompt and answer
    batch: int  # pairs


class Grpo(Common, kw_only=True, frozen=True):
    """Group-relative policy optimisation on a judge's verdicts."""

    beta: float  # weight of the divergence from the model that training began with
    samples: int  # of one prompt
    batch: int  # samples of one step
    answer: int  # tokens at most
    temperature: float
    top_p: float
    limit_s: float  # for one judgement
    reward_parsed: float
    reward_compiled: float
    reward_rules: float
    reward_correct: float
    reward_faster: float


Recipe = TypeVar("Recipe", Sft, Dpo, Grpo)
_TABLES: dict[type[Common], str] = {Sft: "sft", Dpo: "dpo", Grpo: "grpo"}


def names() -> list[str]:
    """Recipes of the package."""
    folder = files(__package__).joinpath("recipes")
    return sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load(form: type[Recipe], name: str = DEFAULT, changes: Sequence[str] = ()) -> Recipe:
    """The method's table of a recipe, with `key=value` changes."""
    values = {**_table(name, _TABLES[form]), **dict(map(_change, changes))}
    try:
        recipe = msgspec.convert(values, form)
        _sane(recipe)
    except (msgspec.ValidationError, ValueError) as error:
        raise UsageError(f"recipe {name}, {_TABLES[form]}: {error}") from error
    return recipe


def _table(name: str, table: str) -> dict[str, Any]:
    document = _read(name)
    own = document.get(table, {})
    if not isinstance(own, dict):
        raise UsageError(f"recipe {name}: {table} is not a table")
    unknown = set(document) - {*_TABLES.values(), "base"}
    if unknown:
        raise UsageError(f"recipe {name}: unknown key {min(unknown)}")
    if name in names():
        return own
    base = document.get("base", DEFAULT)
    if base not in names():
        raise UsageError(f"recipe {name}: no recipe {base}; there are {', '.join(names())}")
    return {**_table(base, table), **own}


def _read(name: str) -> dict[str, Any]:
    if name in names():
        text = files(__package__).joinpath("recipes", f"{name}.toml").read_bytes()
    elif is_plain_file(Path(name)):
        text = read_input(Path(name))
    else:
        raise UsageError(f"no recipe {name}; there are {', '.join(names())}, or give a file")
    return parse_toml(text, f"recipe {name}")


def _change(text: str) -> tuple[str, Any]:
    key, sign, value = text.partition("=")
    if not sign:
        raise UsageError(f"--set takes key=value, not {text}")
    try:
        return key.strip(), parse_toml(f"value = {value}", "--set")["value"]
    except UsageError:
        return key.strip(), value.strip()


def _sane(recipe: Common) -> None:
    for key, value in msgspec.structs.asdict(recipe).items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{key} is {value}")
    for key in ("micro", "epochs", "log_every", "save_every", "keep", "lora_rank"):
        if getattr(recipe, key) <= 0:
            raise ValueError(f"{key} must be above 0")
    if isinstance(recipe, Sft) and recipe.batch_tokens < recipe.sequence:
        raise ValueError("batch_tokens is less than one sequence")
    if isinstance(recipe, Grpo) and recipe.batch % recipe.samples:
        raise ValueError("batch is not a multiple of samples")
