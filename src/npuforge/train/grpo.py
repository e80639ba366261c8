# SPDX-License-Identifier: Apache-2.0
"""Group-relative policy optimisation: better answers get likelier."""

from __future__ import annotations

from typing import Any

import msgspec

from npuforge.errors import UsageError
from npuforge.train import rewards, runs
from npuforge.train.columns import dataset
from npuforge.train.models import Opened, open_model
from npuforge.train.recipe import Grpo
from npuforge.train.records import TaskRecord, as_dicts, read
from npuforge.train.runs import Request, Run


def train(request: Request, recipe: Grpo, judges: int, judge: str) -> Run:
    """Train on the tasks with so many judges (`module:Class`) at a time."""
    tasks = read(request.data, TaskRecord)
    runs.checkpoint(request)
    runs.prepare()
    from transformers import set_seed  # noqa: PLC0415
    from trl import GRPOConfig, GRPOTrainer  # noqa: PLC0415

    set_seed(recipe.seed)
    opened = open_model(request.model, request.tokenizer, recipe.attention)
    rate = recipe.lora_learning_rate if request.lora else recipe.learning_rate
    run = runs.describe("grpo", request, recipe, opened, {"records": len(tasks)})
    with rewards.Pool(judge, judges, recipe.limit_s) as pool:
        trainer = GRPOTrainer(
            model=opened.model,
            reward_funcs=rewards.reward_functions(pool),
            args=GRPOConfig(
                **runs.arguments(request, recipe, lr=rate, micro=recipe.micro, batch=recipe.batch),
                num_generations=recipe.samples,
                max_completion_length=_room(recipe, opened, tasks),
                temperature=recipe.temperature,
                top_p=recipe.top_p,
                beta=recipe.beta,
                reward_weights=list(rewards.weights(recipe).values()),
            ),
            train_dataset=dataset(
                {
                    "prompt": [as_dicts(one.prompt) for one in tasks],
                    # as text: a table would give every task the keys of all
                    "task": [msgspec.json.encode(one.task).decode() for one in tasks],
                },
                run.data_sha256,
            ),
            processing_class=opened.tokenizer,
            peft_config=runs.adapter(request, recipe),
        )
        return runs.train(trainer, run, request, recipe)


def _room(recipe: Grpo, opened: Opened, tasks: list[TaskRecord]) -> int:
    """Tokens that an answer may have after the longest prompt."""
    longest = max(len(_prompt(task, opened.tokenizer)) for task in tasks)
    room: int = min(recipe.answer, opened.model.config.max_position_embeddings - longest)
    if room < 1:
        raise UsageError(
            f"the longest prompt has {longest} tokens: the model has no more positions"
        )
    return room


def _prompt(task: TaskRecord, tokenizer: Any) -> list[int]:
    text = tokenizer.apply_chat_template(
        as_dicts(task.prompt), tokenize=False, add_generation_prompt=True
    )
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids
