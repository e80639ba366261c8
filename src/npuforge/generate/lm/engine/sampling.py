# SPDX-License-Identifier: Apache-2.0
"""Settings of sampling, and the samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npuforge.generate.lm.engine.completion import Check, Completion

Watch = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Sampling:
    """`count` completions of at most `most` tokens, under a `grammar` and a `check` if given."""

    count: int = 4
    temperature: float = 0.6
    top_p: float = 0.95
    seed: int = 0
    most: int = 3200  # a list of six tensors takes 3,000
    grammar: str = ""
    check: Check | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """A completion; `ended` is false for a completion that was cut off or given up."""

    text: str
    tokens: int
    ended: bool
    forced: int = 0  # tokens that the grammar left no choice in
    rejected: int = 0  # lines that the check refused

    @classmethod
    def of(cls, completion: Completion) -> Sample:
        one = completion
        text = one.vocabulary.text(one.tokens)
        return cls(text, len(one.tokens), one.ended, one.forced, one.rejected)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The samples of one prompt, in the order of their seeds."""

    samples: tuple[Sample, ...]
    prompt: int  # tokens
    seconds: float

    @property
    def tokens(self) -> int:
        return sum(sample.tokens for sample in self.samples)

    @property
    def forced(self) -> int:
        return sum(sample.forced for sample in self.samples)
