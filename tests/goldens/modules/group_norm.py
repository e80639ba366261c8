# SPDX-License-Identifier: Apache-2.0
"""Group norm of images: rows of several channels, a scale for each channel."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self, groups: int, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(x)
        return normed


def get_inputs() -> list[Tensor]:
    return [torch.randn(4, 32, 14, 15)]


def get_init_inputs() -> list[object]:
    return [8, 32]
