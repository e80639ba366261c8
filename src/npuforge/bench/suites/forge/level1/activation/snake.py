# SPDX-License-Identifier: Apache-2.0
"""Snake (neural vocoders): x + sin(a x)^2 / a, with a frequency `a` for each channel."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.frequency = nn.Parameter(torch.rand(channels) * 3 + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        frequency = self.frequency[:, None]
        return x + torch.sin(frequency * x).square() / frequency


def get_inputs() -> list[Tensor]:
    return [torch.randn(8, 96, 2051) * 5]


def get_init_inputs() -> list[object]:
    return [96]
