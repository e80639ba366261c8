# SPDX-License-Identifier: Apache-2.0
"""Mean, deviation, skewness and kurtosis of each row."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        mean = x.mean(dim=-1, keepdim=True)
        apart = x - mean
        variance = apart.square().mean(dim=-1)
        deviation = torch.sqrt(variance + 1e-12)
        skewness = (apart.square() * apart).mean(dim=-1) / (deviation * variance)
        kurtosis = apart.square().square().mean(dim=-1) / variance.square() - 3
        return mean[:, 0], deviation, skewness, kurtosis


def get_inputs() -> list[Tensor]:
    x = torch.randn(900, 1013)
    return [x * x.abs() + x * 3 - 4]


def get_init_inputs() -> list[object]:
    return []
