# SPDX-License-Identifier: Apache-2.0
"""Comparisons and choices are given where a model writes another one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from tests.generate.lm.taught import advised, applied, written

from npuforge.generate.lm.guide.guide import Guide

_NUMBERS = "4.0 KB in, 4.0 KB out\n</think>\n"
_X = torch.arange(570.0).reshape(30, 19)
_ROW = torch.arange(19)
_COLUMN = torch.arange(30)


@pytest.mark.parametrize(
    ("function", "inputs", "done"),
    [
        (lambda a, b: a[None] <= b[:, None], (_ROW, _COLUMN), 'v2[:n, :], t1[:n, :], t3[:n, :], "'),
        (lambda a, b: a[:, None] > b[None], (_COLUMN, _ROW), 'v2[:n, :], t1[:n, :], t3[:n, :], "'),
        (lambda a, b: a < b, (_X, _X), 'v0[:m], xa_in[:m], xb_in[:m], "'),
        (lambda a: a >= 3, (_X,), 'v0[:m], xa_in[:m], 3.0, "'),
        (lambda a, b: torch.where(a, b, -1e30), (_X > 3, _X), "xa_wide[:m], xb_in[:m], -1e+30)"),
        (lambda a, b: torch.where(a, b, -torch.inf), (_X > 3, _X), "xb_in[:m], -tl.inf)"),
        (lambda a, b: torch.where(a, 7, b), (_ROW > 3, _X), "mask0[:n, :], 7.0, xb_in[:n, :])"),
    ],
    ids=["row_first", "column_first", "each", "number", "huge", "infinite", "spread"],
)
def test_what_makes_or_takes_a_mask_is_given(
    function: Callable[..., torch.Tensor], inputs: tuple[torch.Tensor, ...], done: str
) -> None:
    asked, _, program = given = written(applied(function, len(inputs)), *inputs)
    thought = f"<think>\n{given.outline}{_NUMBERS}"
    guide = Guide(asked)
    for before, _, advice in advised(guide, thought, program):
        assert advice.keep, (before[-200:], advice.reason)
    line = next(line for line in program.splitlines() if done in line)
    before = program.partition(f"{line}\n")[0]
    call = line.partition("(")[0]
    advice = guide.line(f"{thought}{before}{call}(nothing[:m])\n")
    assert not advice.keep
    assert advice.then == f"{line}\n"


def test_nothing_is_given_before_anything_is_quoted() -> None:
    asked, _, program = given = written(applied(torch.exp, 1), _X)
    thought = f"<think>\n{given.outline}{_NUMBERS}"
    before, _, _ = program.partition("        with tl.copyin():")
    room = "        t0 = tl.alloc_ub(tile, dtype=tl.float32)\n"
    block = f"{before}        with tl.compute():\n    {room}"
    advice = Guide(asked).line(f"{thought}{block}            tl.fill(nothing[:m], 0.0)\n")
    assert not advice.keep
    assert not advice.then
