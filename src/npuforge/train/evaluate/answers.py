# SPDX-License-Identifier: Apache-2.0
"""Completions of a model for the tasks of an evaluation, and how they are sampled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from npuforge.generate.lm.engine.sampling import Sample
from npuforge.generate.lm.grammar import grammar
from npuforge.generate.lm.prefix import PrefixCheck
from npuforge.generate.written.signature import signature_of
from npuforge.train.evaluate.prompts import Prompt

_SOC = "910b2"


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """The completions for a task. `ended` says of each whether it came to its end; `cut` counts
    those that did not. Of all `tokens`, `forced` are those that the grammar left no choice in."""

    suite: str
    name: str
    level: int | None
    answers: list[str]
    tokens: int
    cut: int
    ended: list[bool] = []
    forced: int = 0
    rejected: int = 0  # lines that the compiler refused

    @classmethod
    def of(cls, prompt: Prompt, samples: Sequence[Sample]) -> Answers:
        return cls(
            suite=prompt.suite,
            name=prompt.name,
            level=prompt.level,
            answers=[one.text for one in samples],
            tokens=sum(one.tokens for one in samples),
            cut=sum(not one.ended for one in samples),
            ended=[one.ended for one in samples],
            forced=sum(one.forced for one in samples),
            rejected=sum(one.rejected for one in samples),
        )


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """`constrained`: under the grammar, with the prefix check; otherwise drawn freely."""

    samples: int = 10
    temperature: float = 0.6
    top_p: float = 0.95
    most_tokens: int = 2048
    seed: int = 0
    constrained: bool = True
    jobs: int = 1  # processes of the prefix check


class Answering(Protocol):
    """A model that is open."""

    def answers(self, prompts: Sequence[Prompt], how: Sampling) -> Iterator[Answers]:
        """Yield the completions for every prompt that can be asked."""
        ...


def constraints(prompt: Prompt) -> tuple[str, PrefixCheck]:
    """Return the grammar and the check of the completions for a prompt."""
    signature = signature_of(prompt.graph) if prompt.graph is not None else None
    return grammar(signature), PrefixCheck.of(signature, _SOC)
