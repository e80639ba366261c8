# SPDX-License-Identifier: Apache-2.0
"""Quantile loss: each of nine columns predicts another quantile of the same target."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self, quantiles: int) -> None:
        super().__init__()
        self.quantile = nn.Buffer(torch.linspace(0.1, 0.9, quantiles))

    def forward(self, prediction: Tensor, target: Tensor) -> Tensor:
        error = target[:, None] - prediction
        return torch.maximum(self.quantile * error, (self.quantile - 1) * error).mean(dim=0)


def get_inputs() -> list[Tensor]:
    return [torch.randn(50021, 9) * 3, torch.randn(50021) * 5 + 1]


def get_init_inputs() -> list[object]:
    return [9]
