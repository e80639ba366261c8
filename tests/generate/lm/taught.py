# SPDX-License-Identifier: Apache-2.0
"""A module's program as the planner writes it, and as the model is taught to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from npuforge.generate.live import LiveModule
from npuforge.generate.lm.engine.course import Words
from npuforge.generate.lm.form.form import plain
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.guide import Advice, Guide
from npuforge.generate.lm.guide.settled import settled
from npuforge.generate.lm.question.task import canonical, task_text
from npuforge.plan import planner
from npuforge.train.dataset.reasoning import outlined, schedules

SOC = "910b2"
LETTERS = Words(  # a tokenizer whose tokens are letters
    lambda tokens: "".join(map(chr, tokens)),
    lambda text: [ord(letter) for letter in text],
    ord("\n"),
    0,
)


class Scale(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.exp(x) * 0.5


class Norm(torch.nn.Module):
    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x) * w + x
        return y / torch.sqrt((y * y).mean(-1, keepdim=True) + 1e-5)


class Loss(torch.nn.Module):
    """Two kernels, with what the first leaves for the second."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.smooth_l1_loss(x, y)


class Factors(torch.nn.Module):
    """Two tensors of a list, and a factor that both meet; a multiplication that changes nothing."""

    def forward(
        self, x: torch.Tensor, y: torch.Tensor, other: torch.Tensor, factor: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        same = torch.exp(y) * 1.0
        return x * factor, torch.abs(same * factor) - other


class Weighted(torch.nn.Module):
    """Each tensor times a number of a list."""

    def forward(
        self, one: torch.Tensor, many: torch.Tensor, factors: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        return one * factors[0], many * factors[1]


class _OfOne(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


class _OfTwo(_OfOne):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return self.function(x, y)


def applied(function: Callable[..., torch.Tensor], inputs: int) -> torch.nn.Module:
    """A module that does what a function of one or two tensors does."""
    return (_OfOne, _OfTwo)[inputs - 1](function)


class Written(NamedTuple):
    asked: str
    planned: str
    taught: str

    @property
    def outline(self) -> str:
        """What is said of the program before it is written."""
        return "".join(f"{line}\n" for line in outlined(self.taught, schedules(self.planned)))

    @property
    def answer(self) -> str:
        """With nothing thought but what is given."""
        return f"<think>\n{settled(Meaning.read(self.asked))}</think>\n{self.taught}"


def written(module: Callable[..., Any], *inputs: torch.Tensor) -> Written:
    with LiveModule(module, list(inputs), "op") as live:
        graph, _ = canonical(live.graph)
    asked = task_text(graph)
    planned = planner.plan(graph, SOC, most=1).variants[0].program
    return Written(asked, planned, plain(planned, asked))


def advised(guide: Guide, thought: str, program: str) -> Iterator[tuple[str, str, Advice]]:
    """Beginnings of an answer that the guide is asked about, what follows, and its advice; lines
    that it gives are not asked about."""
    lines = program.splitlines(keepends=True)
    given = 0
    for count in range(len(lines) + 1):
        if given:
            given -= 1
            continue
        before = thought + "".join(lines[:count])
        advice = guide.line(before)
        given = advice.then.count("\n")
        yield before, "".join(lines[count:]), advice
