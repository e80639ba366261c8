# SPDX-License-Identifier: Apache-2.0
"""Direct preference optimisation on pairs of answers."""

from __future__ import annotations

from copy import deepcopy

from npuforge.train import runs
from npuforge.train.columns import dataset
from npuforge.train.models import open_model
from npuforge.train.recipe import Dpo
from npuforge.train.records import Preference, as_dicts, read
from npuforge.train.runs import Request, Run


def train(request: Request, recipe: Dpo) -> Run:
    """Train on the preference records; the model as it is now is the one to stay close to."""
    pairs = read(request.data, Preference)
    runs.checkpoint(request)
    runs.prepare()
    from transformers import set_seed  # noqa: PLC0415
    from trl import DPOConfig, DPOTrainer  # noqa: PLC0415

    set_seed(recipe.seed)
    opened = open_model(request.model, request.tokenizer, recipe.attention)
    rate = recipe.lora_learning_rate if request.lora else recipe.learning_rate
    settings = runs.arguments(request, recipe, lr=rate, micro=recipe.micro, batch=recipe.batch)
    run = runs.describe("dpo", request, recipe, opened, {"records": len(pairs)})
    trainer = DPOTrainer(
        model=opened.model,
        ref_model=None if request.lora else deepcopy(opened.model),
        args=DPOConfig(
            **settings,
            beta=recipe.beta,
            max_length=min(recipe.sequence, opened.model.config.max_position_embeddings),
        ),
        train_dataset=dataset(
            {
                "prompt": [as_dicts(pair.prompt) for pair in pairs],
                "chosen": [as_dicts(pair.chosen) for pair in pairs],
                "rejected": [as_dicts(pair.rejected) for pair in pairs],
            },
            run.data_sha256,
        ),
        processing_class=opened.tokenizer,
        peft_config=runs.adapter(request, recipe),
    )
    return runs.train(trainer, run, request, recipe)
