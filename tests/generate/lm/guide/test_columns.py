# SPDX-License-Identifier: Apache-2.0
"""Columns of tensors, and what searches begin with, as the planner writes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from tests.generate.lm.taught import SOC

from npuforge.generate.live import LiveModule
from npuforge.generate.lm.form.form import plain
from npuforge.generate.lm.guide.guide import Guide
from npuforge.generate.lm.question.task import canonical, task_text
from npuforge.plan import planner
from npuforge.train.dataset.reasoning import outlined, schedules


class Applied(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


def _taught(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> tuple[str, str]:
    """A question, and the planner's answer to it."""
    with LiveModule(Applied(function), [x], "op") as module:
        graph, _ = canonical(module.graph)
    planned = planner.plan(graph, SOC, most=1).variants[0].program
    asked = task_text(graph)
    program = plain(planned, asked)
    said = "".join(f"{line}\n" for line in outlined(program, schedules(planned)))
    return asked, f"<think>\n{said}4.0 KB in, 1 KB out\n</think>\n{program}"


def _until(answer: str, line: str) -> str:
    before, found, _ = answer.partition(line)
    assert found, answer
    return before


@pytest.mark.parametrize(("shape", "place"), [((40, 3), 0), ((40, 3), 2), ((5, 7, 2), 1)])
def test_how_a_column_is_read_is_given(shape: tuple[int, ...], place: int) -> None:
    asked, answer = _taught(lambda x: x[..., place], torch.rand(shape))
    load = next(line for line in answer.splitlines() if "tl.load(" in line)
    until = _until(answer, "            xa_in = tl.alloc_ub(")
    assert load in Guide(asked).line(until).then
    made = next(line for line in answer.splitlines() if "tl.reduce_sum(" in line)
    wrong = _until(answer, made) + made.replace("tl.reduce_sum(", "tl.add(") + "\n"
    advice = Guide(asked).line(wrong)
    assert (advice.keep, advice.then) == (False, f"{made}\n")


@pytest.mark.parametrize("search", [torch.argmax, torch.argmin])
def test_a_search_begins_with_what_anything_beats(
    search: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    asked, answer = _taught(search, torch.rand(3000))
    begun = next(line for line in answer.splitlines() if "tl.inf)" in line)
    other = (
        begun.replace("-tl.inf", "tl.inf")
        if "-tl.inf" in begun
        else begun.replace("tl.inf", "-tl.inf")
    )
    advice = Guide(asked).line(_until(answer, begun) + f"{other}\n")
    assert (advice.keep, advice.then) == (False, f"{begun}\n")
    assert Guide(asked).line(_until(answer, begun) + f"{begun}\n").keep
