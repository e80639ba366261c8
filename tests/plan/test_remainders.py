# SPDX-License-Identifier: Apache-2.0
"""Remainders, lengths and shifts: what PyTorch makes of signs, large numbers and bits."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.plan.modules import agree

from npuforge.plan.plan import PlanError


def _left(x: Any, y: Any) -> Any:
    return torch.fmod(x, y)


def _length(x: Any, y: Any) -> Any:
    return torch.hypot(x, y)


def _outside(x: Any) -> Any:
    return torch.erfc(x)


def test_what_is_left_has_the_sign_of_what_is_divided() -> None:
    agree(lambda x: torch.fmod(x, -1.3), [torch.randn(37, 70) * 10])
    agree(_left, [torch.randn(3000) * 10, torch.rand(3000) + 0.2])
    agree(lambda x: torch.fmod(x, 5), [torch.arange(-60, 60, dtype=torch.int32)])


def test_lengths_of_large_and_no_sides() -> None:
    x = torch.cat([torch.randn(500) * 1e25, torch.zeros(3), torch.tensor([torch.inf, 3.0])])
    agree(_length, [x, x.flip(0).contiguous()])


def test_the_rest_of_the_error_function() -> None:
    agree(_outside, [torch.randn(37, 70) * 3])


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32])
def test_bits_shifted_out_are_gone(dtype: torch.dtype) -> None:
    def shifted(x: Any) -> Any:
        return ((x << 4) >> 4) + (x >> 2)

    span = torch.iinfo(dtype)
    agree(shifted, [torch.randint(span.min, span.max, (1000,)).to(dtype)])


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
def test_bits_of_numbers(dtype: torch.dtype) -> None:
    def mixed(x: Any, y: Any) -> Any:
        return ((x & y) | 5) ^ (~x & 0x3C)

    span = torch.iinfo(dtype)
    cases = [torch.randint(span.min, span.max, (3, 1001)).to(dtype) for _ in range(2)]
    agree(mixed, cases)
    agree(lambda x: ~x, cases[:1])


def test_a_shift_beyond_the_type_is_refused() -> None:
    with pytest.raises(PlanError, match="shifted by 8 bits"):
        agree(lambda x: x << 8, [torch.arange(9, dtype=torch.int8)])
