# SPDX-License-Identifier: Apache-2.0
"""Folds that vary over fewer axes than what is computed from them; roundings and signs kept."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.plan.modules import agree

from npuforge.plan import PlanError


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def test_a_fold_under_another_shape_is_taken_once_for_all_lines_of_a_tile() -> None:
    def standardised(weight: Any) -> Any:
        flat = weight.flatten(1)
        variance, mean = torch.var_mean(flat, dim=1, correction=0, keepdim=True)
        return ((flat - mean) * torch.rsqrt(variance + 1e-4)).view_as(weight)

    agree(standardised, [normal(30, 11, 3, 5)], [normal(2, 3, 1, 1)])


def test_a_mean_over_channels_scales_whole_images() -> None:
    def shares(x: Any) -> Any:
        energy = x.square().sum(dim=(1, 2), keepdim=True)
        return x * (energy / energy.mean(dim=-1, keepdim=True))

    agree(shares, [normal(3, 9, 7, 40)], [normal(1, 2, 3, 5)])


def test_sums_in_parts_that_do_not_vary_along_the_rows() -> None:
    def masked_mean(x: Any, mask: Any) -> Any:
        weight = mask.to(x.dtype)[:, :, None]
        return (x * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1e-9)

    agree(masked_mean, [normal(12, 150, 385), normal(12, 150) > 0])


def test_long_rows_give_their_sum_and_the_place_of_their_largest() -> None:
    def statistics(x: Any) -> Any:
        return torch.exp(x).sum(dim=-1), x.argmax(dim=-1)

    agree(statistics, [normal(5, 90001)])


def test_a_cast_there_and_back_is_rounded() -> None:
    def split(x: Any) -> Any:
        high = x.to(torch.bfloat16)
        return high, (x - high.to(torch.float32)).to(torch.bfloat16)

    agree(split, [normal(33, 50)])


def test_the_sign_of_no_number_is_zero() -> None:
    x = normal(40, 30)
    x[::3, ::4] = float("nan")
    x[1] = 0.0

    def step(x: Any) -> Any:
        return torch.sign(x) * 0.5 + 1

    agree(step, [x])


def test_many_narrow_rows_fit_the_buffer() -> None:
    def pinball(prediction: Any, target: Any) -> Any:
        error = target[:, None] - prediction
        return torch.maximum(0.3 * error, -0.7 * error).mean(dim=0)

    agree(pinball, [normal(50021, 9), normal(50021)])


def test_a_fold_of_an_image_is_not_taken_again_for_every_pixel() -> None:
    def rescaled(x: Any) -> Any:
        spread = x.flatten(1).std(dim=1)
        return x / spread[:, None, None, None]

    planned = agree(rescaled, [normal(3, 4, 127, 129)], [normal(2, 1, 3, 5)])
    assert "w0" in planned.variants[0].program


def test_rows_of_many_small_buffers_fit_too() -> None:
    def one_hot(label: Any) -> Any:
        return torch.nn.functional.one_hot(label, 101).to(torch.float32)

    agree(one_hot, [torch.arange(8009) * 7 % 101])


def test_a_fold_of_a_fold_of_other_axes_of_a_fold_comes_to_an_end() -> None:
    def chained(x: Any, p: Any) -> Any:
        centred = p * (x - x.abs().amax(dim=-2, keepdim=True))
        spread = torch.sqrt(centred.var(dim=-3, unbiased=False) + 1e-08)
        return torch.sqrt(spread.pow(2).sum(dim=0) + 1e-05)

    with pytest.raises(PlanError, match="in steps"):  # and says why, as long as it cannot be done
        agree(chained, [normal(5, 16, 16), normal(16)])
