# SPDX-License-Identifier: Apache-2.0
"""What is read in steps: every second element, single columns, patches side by side."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.plan.modules import agree

from npuforge.plan.plan import PlanError


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_every_second_element(dtype: torch.dtype) -> None:
    def halves(x: Any) -> Any:
        return x[:, ::2] * x[:, 1::2]

    agree(halves, [normal(9, 70, dtype=dtype)], [normal(3, 4102, dtype=dtype)])


def test_columns_of_narrow_rows() -> None:
    def corners(box: Any) -> Any:
        return torch.stack([box[:, 2] - box[:, 0], box[:, 3] - box[:, 1]], dim=1)

    agree(corners, [normal(5003, 4)], [normal(7, 4)])


def test_patches_laid_one_after_another() -> None:
    def patches(image: Any) -> Any:
        low = (image[..., ::2, ::2] + image[..., 1::2, ::2]) * 0.5
        return low - image[..., ::2, 1::2]

    agree(patches, [normal(2, 3, 18, 34)], [normal(1, 1, 4, 130)])


def test_blocks_become_channels() -> None:
    def deeper(image: Any) -> Any:
        return torch.pixel_unshuffle(image, 2)

    agree(deeper, [normal(2, 3, 18, 34)], [normal(1, 2, 4, 66)])


def test_steps_beside_masks_and_rows() -> None:
    def chosen(x: Any, bias: Any) -> Any:
        found = x[:, ::3]
        return torch.where(found > 0, found, bias[::2] * found)

    agree(chosen, [normal(6, 90), normal(60)])


@pytest.mark.parametrize("axis", [0, 1])
def test_sums_of_what_is_apart(axis: int) -> None:
    def total(x: Any) -> Any:
        return (x[:, ::2] * 2).sum(dim=axis)

    agree(total, [normal(40, 90)], [normal(300, 514)])


def test_rows_normalised_by_every_second_element() -> None:
    def scaled(x: Any) -> Any:
        return torch.softmax(x[:, ::2], dim=-1) + x[:, 1::2].amax(dim=-1, keepdim=True)

    agree(scaled, [normal(12, 66)])


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_whole_numbers_apart(dtype: torch.dtype) -> None:
    def halves(x: Any) -> Any:
        return x[:, ::2] - x[:, 1::2] // 2

    span = min(torch.iinfo(dtype).max // 2, 2**23)
    x = torch.randint(-span, span, (9, 70)).to(dtype)
    agree(halves, [x])
    agree(lambda x: x[:, 1], [torch.tensor([[0, 2**31 - 1], [0, -(2**31)], [3, -1]]).to(dtype)])


def test_truth_values_apart_are_refused() -> None:
    with pytest.raises(PlanError, match="in steps"):
        agree(lambda x: x[:, ::2], [torch.ones(4, 6, dtype=torch.bool)])
