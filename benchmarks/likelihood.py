# SPDX-License-Identifier: Apache-2.0
"""How likely models hold the planner's own programs for forge's tasks, which none was trained on.

    python benchmarks/likelihood.py MODEL...

A model is a folder or a GGUF file. What is measured, in nats, is the outline of the reasoning and
the program: the less, the likelier. It takes no sampling and no judge, and tells models apart which
few answers do not; the first model is what the others are compared with, task by task.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from npuforge.errors import NpuforgeError
from npuforge.generate.lm.form.form import plain
from npuforge.generate.lm.form.grammar import ENDED
from npuforge.generate.lm.question.task import canonical, question, task_text
from npuforge.plan import planner
from npuforge.train.dataset.reasoning import outlined, schedules
from npuforge.train.evaluate.problems import OWN, problems
from npuforge.train.models import open_model

CHIP = "910b2"
LEVELS = (1, 2)


class Taught(NamedTuple):
    """A task, and what would be taught if it were."""

    level: int
    asked: list[dict[str, str]]
    outline: str
    program: str


def taught() -> Iterator[Taught]:
    for problem in problems(OWN):
        if problem.task.level not in LEVELS:
            continue
        try:
            with problem.opened() as module:
                graph, _ = canonical(module.graph)
            planned = planner.plan(graph, CHIP).variants[0].program
        except NpuforgeError as error:
            print(f"{problem.name}: {error}", file=sys.stderr)
            continue
        program = plain(planned, task_text(graph))
        lines = "".join(f"{line}\n" for line in outlined(program, schedules(planned)))
        yield Taught(problem.task.level, question(graph), f"<think>\n{lines}", program)


@torch.inference_mode()
def nats(model: Any, words: Any, one: Taught) -> float | None:
    """Nothing where the text is longer than the model reads."""
    head = words.apply_chat_template(one.asked, tokenize=False, add_generation_prompt=True)
    parts = [
        words(text, add_special_tokens=False)["input_ids"]
        for text in (head, one.outline, f"{ENDED}\n", one.program)
    ]
    tokens = torch.tensor([token for part in parts for token in part])
    if len(tokens) > model.config.max_position_embeddings:
        return None
    chances = model(tokens[None]).logits[0, :-1].float().log_softmax(-1)
    lost = -chances.gather(1, tokens[1:, None])[:, 0]
    before = len(parts[0]) - 1
    # Numbers of the reasoning are left out, and with them what the model makes of its end.
    end = before + len(parts[1])
    return float(lost[before:end].sum() + lost[end + len(parts[2]) :].sum())


def main(models: list[str]) -> None:
    tasks = list(taught())
    first: list[float | None] = []
    for name in models:
        opened = open_model(name, None, "sdpa")
        found = [nats(opened.model.eval(), opened.tokenizer, one) for one in tasks]
        first = first or found
        for level in LEVELS:
            pairs = [
                (was, now)
                for was, now, one in zip(first, found, tasks, strict=True)
                if one.level == level and was is not None and now is not None
            ]
            middle = statistics.median(now for _, now in pairs)
            likelier = sum(now < was for was, now in pairs)
            print(f"{name}: level {level}, {len(pairs)} programs, median {middle:.1f} nats, "
                  f"{likelier} likelier than by {models[0]}")  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"usage: python {sys.argv[0]} MODEL...")
    main(sys.argv[1:])
