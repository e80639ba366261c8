# SPDX-License-Identifier: Apache-2.0
"""Windows of 7 x 7 of an image rolled by 3 (Swin)."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        batch, height, width, channels = x.shape
        rolled = torch.roll(x, shifts=(-3, -3), dims=(1, 2))
        split = rolled.view(batch, height // 7, 7, width // 7, 7, channels)
        return split.permute(0, 1, 3, 2, 4, 5).flatten(0, 2)


def get_inputs() -> list[Tensor]:
    return [torch.randn(3, 56, 63, 97, dtype=torch.float16) * 3]


def get_init_inputs() -> list[object]:
    return []
