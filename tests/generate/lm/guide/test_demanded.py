# SPDX-License-Identifier: Apache-2.0
"""A host function refuses sizes with which nothing is left to fold, as the planner's does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from tests.generate.lm.taught import advised, applied, written

from npuforge.generate.lm.guide.guide import Guide

_REQUIRED = "    tl.require({} >= 1, "


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (lambda x: x[:, 8:-8].mean(-1), "nb - 16"),
        (lambda x: x[8:-8].sum(0), "na - 16"),
        (lambda x: x[:, 8:-8] * 2, None),
        (lambda x: x[8:-8].amax(-1), None),
    ],
    ids=["row", "column", "each", "others"],
)
def test_nothing_is_not_folded(function: Callable[..., torch.Tensor], left: str | None) -> None:
    given = written(applied(function, 1), torch.ones(30, 40))
    said = [line for line in given.taught.splitlines() if "is folded has elements" in line]
    guide = Guide(given.asked)
    thought = f"<think>\n{given.outline}4.0 KB in, 4.0 KB out\n</think>\n"
    held = list(advised(guide, thought, given.taught))
    assert all(advice.keep for _, _, advice in held)
    asked = [line for _, _, advice in held for line in advice.then.splitlines()]
    assert [line for line in asked if "is folded has elements" in line] == said
    assert [line.startswith(_REQUIRED.format(left)) for line in said] == [True] * (left is not None)
