# SPDX-License-Identifier: Apache-2.0
"""Patches of 14 x 14 projected by a convolution, normed, with places added."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.project = nn.Conv2d(3, width, 14, stride=14)
        self.norm = nn.LayerNorm(width)
        self.place = nn.Parameter(torch.randn(64, width) * 0.5)

    def forward(self, image: Tensor) -> Tensor:
        tokens = self.project(image).flatten(2).transpose(1, 2)
        embedded: Tensor = self.norm(tokens) + self.place
        return embedded


def get_inputs() -> list[Tensor]:
    return [torch.randn(3, 3, 112, 112) * 2]


def get_init_inputs() -> list[object]:
    return [192]
