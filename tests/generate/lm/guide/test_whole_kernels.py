# SPDX-License-Identifier: Apache-2.0
"""Questions that are one operation whose kernel leaves no choice, as the planner writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.generate.lm.taught import Written, advised, applied, written

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.guide import Guide
from npuforge.generate.lm.guide.settled import settled

Function = Callable[..., torch.Tensor]


def _largest(x: torch.Tensor) -> Any:
    return torch.topk(x, 5)


_ROWS, _CUBE = torch.rand(30, 70), torch.rand(12, 60, 77)
_LINE, _PLACES = torch.rand(60), torch.arange(62) % 50
_WHOLE = (torch.rand(30, 70) * 50).to(torch.int64)

_QUESTIONS: dict[str, tuple[Function, list[torch.Tensor]]] = {
    "values in order": (lambda x: torch.sort(x)[0], [_ROWS]),
    "values of three axes": (lambda x: torch.sort(x)[0], [_CUBE]),
    "places in order": (lambda x: torch.sort(x, dim=-1, stable=True)[1], [_ROWS]),
    "the largest first": (lambda x: torch.sort(x, descending=True)[0], [_ROWS]),
    "places of whole numbers": (lambda x: torch.sort(x)[1], [_WHOLE]),
    "places of short numbers": (lambda x: torch.sort(x)[1], [_WHOLE.int()]),
    "values and places": (_largest, [_ROWS]),
    "the smallest": (lambda x: torch.topk(x, 5, largest=False)[0], [_ROWS]),
    "rows by places": (lambda x, i: x[i], [_ROWS.repeat(2, 1), _PLACES]),
    "rows of each": (lambda x, i: x[:, i], [_CUBE, _PLACES]),
    "selected rows": (lambda x, i: x.index_select(1, i), [_CUBE.half(), _PLACES]),
    "range": (lambda x: torch.arange(x.shape[1]), [_ROWS]),
    "range from below nothing": (lambda x: torch.arange(-1, x.shape[1] + 1), [_ROWS]),
    "range in steps": (lambda x: torch.arange(1, x.shape[1] - 2, 2), [_ROWS]),
    "range with a point": (lambda x: torch.arange(1.0, x.shape[1] + 1.0), [_ROWS]),
    "short range": (lambda x: torch.arange(3, dtype=torch.int32), [_ROWS]),  # noqa: ARG005
    "filled": (lambda x: torch.ones(x.shape[0], 2, x.shape[1]), [_ROWS]),
    "copied": (lambda x: x.clone(), [_ROWS]),
    "copied halves": (lambda x: x.clone(), [_ROWS.half()]),
    "a number of the shape": (lambda x: x / (x.shape[1] - 1), [_ROWS]),
    "rows repeated": (lambda x, y: x[None].expand(y.shape[1], -1).clone(), [_LINE, _ROWS]),
    "elements repeated": (lambda x, y: x[:, None].expand(-1, y.shape[1]).clone(), [_LINE, _ROWS]),
    "repeated around": (
        lambda x, y: x[None, :, None].expand(y.shape[0], -1, y.shape[1]).clone(),
        [_LINE, _ROWS],
    ),
}


def _taught(name: str) -> Written:
    function, inputs = _QUESTIONS[name]
    return written(applied(function, len(inputs)), *inputs)


@pytest.mark.parametrize("name", _QUESTIONS)
def test_it_is_given_as_the_planner_writes_it(name: str) -> None:
    taught = _taught(name)
    assert settled(Meaning.read(taught.asked)) == taught.outline
    thought = f"<think>\n{taught.outline}</think>\n"
    for before, rest, advice in advised(Guide(taught.asked), thought, taught.taught):
        assert advice.keep, (before[-200:], advice.reason)
        assert rest.startswith(advice.then)


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda x: torch.sort(x, 0)[0], [_ROWS]),
        (lambda x: torch.sort(x)[0], [_ROWS.half()]),
        (lambda x: torch.sort(x * 2.0)[0], [_ROWS]),
        (lambda x, i: x[:, i], [_ROWS, _PLACES]),
        (lambda x, i: x[i] + 1.0, [_ROWS.repeat(2, 1), _PLACES]),
    ],
)
def test_other_questions_are_none_of_these(function: Function, inputs: list[torch.Tensor]) -> None:
    assert settled(Meaning.read(written(applied(function, len(inputs)), *inputs).asked)) == ""


@pytest.mark.parametrize("name", ["values in order", "the largest first", "the smallest"])
def test_rows_are_not_sorted_the_other_way_round(name: str) -> None:
    taught = _taught(name)
    before, _, after = taught.taught.partition("descending=")
    right = after.partition(")")[0]
    wrong = {"True": "False", "False": "True"}[right]
    guide = Guide(taught.asked)
    thought = f"<think>\n{taught.outline}</think>\n"
    advice = guide.line(f"{thought}{before}descending={wrong})\n")
    assert not advice.keep
    assert advice.then.endswith(f"descending={right})\n")
