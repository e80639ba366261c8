# SPDX-License-Identifier: Apache-2.0
"""Completions drawn uniformly among the tokens that the grammar allows: a baseline for a model.

    python benchmarks/lm_uniform.py MODEL.gguf PROMPTS.jsonl OUT.jsonl

Only the tokenizer of the model is used. Grammar, prefix check and limits are those of `npuforge
evaluate sample`, and `npuforge evaluate score` judges the file.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import click

from npuforge.cli.output import new_file
from npuforge.errors import NpuforgeError
from npuforge.fileformat import RECORD
from npuforge.generate.lm.engine.completion import Completion
from npuforge.generate.lm.engine.model import read
from npuforge.generate.lm.engine.sampling import Sample
from npuforge.train.evaluate.answers import Answers, constraints
from npuforge.train.evaluate.prompts import read_prompts

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("model", type=_FILE)
@click.argument("asked", type=_FILE)
@click.argument("out", type=_FILE)
@click.option("--samples", default=10, show_default=True)
@click.option("--most-tokens", default=2048, show_default=True)
def main(model: Path, asked: Path, out: Path, samples: int, most_tokens: int) -> None:
    vocabulary = read(model).vocabulary()
    with new_file(out) as file:
        for prompt in read_prompts([asked]):
            if prompt.problem:
                continue
            rules, check = constraints(prompt)
            drawn = []
            for number in range(samples):
                completion = Completion(vocabulary, vocabulary.matcher(rules), check)
                _draw(completion, random.Random(f"{prompt.name} {number}"), most_tokens)
                drawn.append(Sample.of(completion))
            answers = Answers.of(prompt, drawn)
            file.write(RECORD.encode(answers) + b"\n")
            click.echo(
                f"{prompt.name}: {answers.tokens} tokens, {answers.forced} forced, "
                f"{answers.cut} without an end"
            )


def _draw(completion: Completion, dice: random.Random, most: int) -> None:
    while not completion.is_over(most):
        token = completion.vocabulary.end
        if not completion.is_forced:
            mask = completion.mask()
            assert mask is not None
            token = dice.choice(mask.nonzero()[0].tolist())
        completion.take(token)


if __name__ == "__main__":
    try:
        main()
    except NpuforgeError as error:
        sys.exit(f"lm_uniform: {error}")
