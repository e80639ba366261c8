# SPDX-License-Identifier: Apache-2.0
"""How samples are drawn, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npuforge.generate.lm.guide.guide import Guide

Watch = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Sampling:
    """`count` answers of at most `most` tokens. A `guide` looks after their lines where the model
    has a token for a line's end, else a `grammar` (GBNF) says what they may be."""

    count: int = 4
    temperature: float = 0.6
    top_p: float = 0.95
    seed: int = 0
    most: int = 3200  # a list of six tensors takes 3,000
    stop: tuple[str, ...] = ()
    grammar: str = ""
    guide: Guide | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """An answer; one that did not come to its end was cut off."""

    text: str
    tokens: int
    ended: bool


@dataclass(frozen=True, slots=True)
class Drawn:
    """The samples of one question, in the order of their seeds."""

    samples: tuple[Sample, ...]
    asked: int  # tokens of the question
    seconds: float

    @property
    def tokens(self) -> int:
        return sum(sample.tokens for sample in self.samples)
