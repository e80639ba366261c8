# SPDX-License-Identifier: Apache-2.0
"""Numbers of the shape in instructions have the names that the outline gave them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from tests.generate.lm.taught import advised, applied, written

from npuforge.generate.lm.guide.guide import Guide

_NUMBERS = "4.0 KB in, 4.0 KB out\n</think>\n"


@pytest.mark.parametrize(
    ("function", "x", "wrong"),
    [
        (lambda x: x / (x.shape[1] - 1), torch.ones(30, 70), "y_out[:m], xa_in[:m], -1.0"),
        (lambda x: (x.shape[0] - 3) - x, torch.arange(70), "v0[:m], xa_wide[:m], e1"),
        (lambda x: (x.shape[0] - 3) - x, torch.ones(70), "y_out[:m], 3.0, xa_in[:m]"),
    ],
    ids=["after", "whole", "before"],
)
def test_a_number_of_the_shape_is_given(
    function: Callable[..., torch.Tensor], x: torch.Tensor, wrong: str
) -> None:
    asked, _, program = given = written(applied(function, 1), x)
    thought = f"<think>\n{given.outline}{_NUMBERS}"
    guide = Guide(asked)
    for before, _, advice in advised(guide, thought, program):
        assert advice.keep, (before[-200:], advice.reason)
    done = next(line for line in program.splitlines() if "e1" in line and " tl." in line)
    call, _, _ = done.partition("(")
    before = program.partition(done)[0]
    advice = guide.line(f"{thought}{before}{call}({wrong})\n")
    assert not advice.keep
    assert advice.then == f"{done}\n"
