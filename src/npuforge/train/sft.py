# SPDX-License-Identifier: Apache-2.0
"""Supervised training on conversations: fine-tuning, or from nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from npuforge.train import runs
from npuforge.train.models import Opened, open_model
from npuforge.train.packing import PackedCollator, pack
from npuforge.train.recipe import Sft
from npuforge.train.records import Chat, read, without_reasoning
from npuforge.train.renaming import Renamer
from npuforge.train.runs import Request, Run


def train(request: Request, recipe: Sft, held_out: Sequence[Path] = ()) -> Run:
    """Train on the chat records; `held_out` are records whose loss is measured at the end."""
    chats = _as_wanted(read(request.data, Chat), recipe)
    others = _as_wanted(read(held_out, Chat), recipe) if held_out else []
    runs.checkpoint(request)
    runs.prepare()
    from transformers import set_seed  # noqa: PLC0415
    from trl import SFTConfig, SFTTrainer  # noqa: PLC0415

    set_seed(recipe.seed)
    opened = open_model(request.model, request.tokenizer, recipe.attention)
    length = min(recipe.sequence, opened.model.config.max_position_embeddings)
    renamer = Renamer(opened.tokenizer, recipe.seed) if recipe.renamed else None
    packed = pack(chats, opened.tokenizer, length)
    rows = max(1, recipe.batch_tokens // length)
    settings = runs.arguments(
        request, recipe, lr=_rate(request, recipe, opened), micro=recipe.micro, batch=rows
    )
    counts = {
        "records": len(chats),
        "left_out": packed.left_out,
        "tokens": packed.tokens,
        "learned_tokens": packed.learned,
        "rows": len(packed.rows),
        "row_tokens": length,
    }
    run = runs.describe("sft", request, recipe, opened, counts)
    runs.compiled(opened, recipe)
    trainer = SFTTrainer(
        model=opened.model,
        args=SFTConfig(
            **settings,
            max_length=length,
            dataset_kwargs={"skip_prepare_dataset": True},
            dataloader_num_workers=2 if settings["bf16"] else 0,
        ),
        train_dataset=packed.rows,
        eval_dataset=pack(others, opened.tokenizer, length).rows if others else None,
        data_collator=PackedCollator(length, opened.tokenizer.pad_token_id, renamer),
        processing_class=opened.tokenizer,
        peft_config=runs.adapter(request, recipe),
    )
    filling = packed.tokens / (len(packed.rows) * length)
    return runs.train(trainer, run, request, recipe, tokens=int(rows * length * filling))


def _as_wanted(chats: list[Chat], recipe: Sft) -> list[Chat]:
    return chats if recipe.reasoning else [without_reasoning(chat) for chat in chats]


def _rate(request: Request, recipe: Sft, opened: Opened) -> float:
    if request.lora:
        return recipe.lora_learning_rate
    return recipe.scratch_learning_rate if opened.kind == "scratch" else recipe.learning_rate
