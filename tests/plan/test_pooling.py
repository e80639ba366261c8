# SPDX-License-Identifier: Apache-2.0
"""Pooling kernels on the twin against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.plan.specials import Operation, agree

from npuforge.plan.special.folding import doubling_steps

AVG2 = "aten.avg_pool2d.default"
AVG3 = "aten.avg_pool3d.default"
MAX2 = "aten.max_pool2d_with_indices.default"
MAX3 = "aten.max_pool3d_with_indices.default"


def drawn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7)).to(dtype)


@pytest.mark.parametrize(
    ("op", "shape", "arguments"),
    [
        pytest.param(AVG2, (3, 5, 1, 40), ([1, 8], [1, 1], [0, 4]), id="rows alone"),
        pytest.param(MAX2, (2, 3, 37, 41), ([4, 4], [1, 1], [1, 1]), id="doubling"),
        pytest.param(MAX2, (2, 30, 7, 7), ([2, 2],), id="many small planes"),
        pytest.param(MAX2, (2, 3, 7, 9), ([3, 3], [2, 2], [1, 1], [1, 1], True), id="rounded up"),
        pytest.param(MAX2, (2, 3, 37, 41), ([5, 7], [1, 2], [2, 3], [2, 3]), id="dilated"),
        pytest.param(MAX2, (2, 3, 40, 3000), ([3, 3], [2, 2], [1, 1]), id="chunks of columns"),
        pytest.param(AVG2, (2, 3, 50, 70), ([11, 11], [11, 11]), id="tall windows"),
        pytest.param(
            AVG2, (1, 3, 80, 90), ([11, 11], [11, 11], [5, 5], True, False), id="unequal shares"
        ),
        pytest.param(
            AVG2, (2, 3, 36, 40), ([3, 2], [2, 3], [1, 1], True, True), id="borders count"
        ),
        pytest.param(AVG2, (2, 3, 36, 40), ([3, 2], [2, 3], [0, 0], False, True, 5), id="divisor"),
        pytest.param(AVG3, (2, 2, 9, 17, 33), ([3, 3, 3], [2, 2, 2], [1, 1, 1]), id="volume"),
        pytest.param(
            AVG3, (2, 2, 9, 17, 33), ([3, 3, 3], [2, 2, 2], [1, 1, 1], True, False), id="all axes"
        ),
        pytest.param(AVG3, (2, 2, 9, 17, 33), ([3, 1, 1], [1, 1, 1], [1, 0, 0]), id="depth alone"),
        pytest.param(MAX3, (1, 2, 20, 40, 13), ([2, 12, 3], [2, 5, 2], [1, 6, 1]), id="by taps"),
    ],
)
def test_pooling(op: str, shape: tuple[int, ...], arguments: Any) -> None:
    agree(Operation(op, [drawn(*shape)], arguments))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_types(dtype: torch.dtype) -> None:
    agree(Operation(MAX2, [drawn(2, 3, 21, 45, dtype=dtype)], ([3, 3], [2, 2], [1, 1])))


def test_one_program_for_many_shapes() -> None:
    operation = Operation(
        MAX2,
        [drawn(4, 3, 30, 64)],
        ([3, 3], [2, 2], [1, 1]),
        {0: "a", 1: "b", 2: "c", 3: "d"},
        ("a", "b", "(c - 1) // 2 + 1", "(d - 1) // 2 + 1"),
    )
    agree(operation, [drawn(1, 2, 3, 3)], [drawn(2, 2, 130, 700)], [drawn(50, 2, 5, 6)])


def test_infinities_and_not_a_number() -> None:
    x = drawn(1, 2, 12, 20)
    x[0, 0, 3, 4], x[0, 1, 5, 6], x[0, 0, 8, 9] = torch.inf, -torch.inf, torch.nan
    agree(Operation(AVG2, [x], ([3, 3], [2, 2], [1, 1])))


def test_doubling() -> None:
    assert [doubling_steps("maximum", size) for size in (2, 3, 4, 7, 8)] == [None, 2, 2, 3, 3]
    assert [doubling_steps("add", size) for size in (3, 4, 7, 8)] == [None, 2, None, 3]
