# SPDX-License-Identifier: Apache-2.0
"""A question that is one number, repeated, has the planner's kernel."""

from __future__ import annotations

import pytest
import torch
from tests.generate.lm.taught import Written, applied, written

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.repeated import repeated
from npuforge.generate.lm.guide.guide import Guide

_TYPES = (
    torch.float32,
    torch.int32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int8,
    torch.bool,
)


def _is_given(one: Written) -> bool:
    guide = Guide(one.asked)
    head, _, body = one.taught.partition("def op():\n")
    given = guide.line(f"<think>\n{one.outline}</think>\n{head}def op():\n").then
    said = guide.line("<think>\n").then
    return said == one.outline and bool(given) and body.startswith(f"{given}\n\n")


@pytest.mark.parametrize("dtype", _TYPES)
def test_the_kernel_is_the_planners(dtype: torch.dtype) -> None:
    number = torch.ones((), dtype=dtype)
    assert _is_given(written(applied(lambda x: x.expand(7, 19), 1), number))


def test_it_is_repeated_as_often_as_another_tensor_has_elements() -> None:
    number, other = torch.ones(1), torch.rand(5, 6)
    assert _is_given(written(applied(lambda x, y: x.expand(y.shape), 2), number, other))


@pytest.mark.parametrize(
    ("asked", "is_repeated"),
    [
        ("xa: float32[]\nv0 = expand(xa, [128]): float32[128]\nreturn v0\n", True),
        ("xa: float32[128]\nv0 = expand(xa, [9, 128]): float32[9, 128]\nreturn v0\n", False),
        ("xa: float64[]\nv0 = expand(xa, [128]): float64[128]\nreturn v0\n", False),
        ("xa: float32[]\nv0 = exp(xa): float32[]\nreturn v0\n", False),
    ],
)
def test_only_a_number_that_kernels_hold_is(asked: str, is_repeated: bool) -> None:
    assert (repeated(Meaning.read(asked)) is not None) is is_repeated
