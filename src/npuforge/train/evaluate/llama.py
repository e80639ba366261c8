# SPDX-License-Identifier: Apache-2.0
"""Completions by llama.cpp, on a machine without a GPU: as `generate --strategy lm` draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from npuforge.generate.lm.engine.engine import LlamaEngine
from npuforge.generate.lm.engine.model import read
from npuforge.generate.lm.engine.sampling import Sampling as Drawing
from npuforge.train.evaluate.answers import Answers, Sampling, constraints
from npuforge.train.evaluate.prompts import Prompt
from npuforge.train.records import as_dicts


class LlamaSampler:
    """A GGUF file. It answers one prompt after the other, in their order."""

    def __init__(self, model: Path) -> None:
        self.model = read(model)

    def answers(self, prompts: Sequence[Prompt], how: Sampling) -> Iterator[Answers]:
        with LlamaEngine(self.model) as engine:
            for prompt in prompts:
                if prompt.problem:
                    continue
                grammar, check = constraints(prompt) if how.constrained else ("", None)
                drawn = engine.draw(
                    self.model.prompt(as_dicts(prompt.prompt)),
                    Drawing(
                        count=how.samples,
                        temperature=how.temperature,
                        top_p=how.top_p,
                        seed=how.seed,
                        most=how.most_tokens,
                        grammar=grammar,
                        check=check,
                    ),
                )
                yield Answers.of(prompt, drawn.samples)
