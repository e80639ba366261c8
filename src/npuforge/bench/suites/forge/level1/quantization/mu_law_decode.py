# SPDX-License-Identifier: Apache-2.0
"""Audio from 8-bit mu-law levels."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, level: Tensor) -> Tensor:
        y = level.to(torch.float32) * (2 / 255) - 1
        return torch.sign(y) * torch.expm1(torch.abs(y) * 5.545177444479562) / 255


def get_inputs() -> list[Tensor]:
    return [torch.randint(0, 256, (20, 48001), dtype=torch.uint8)]


def get_init_inputs() -> list[object]:
    return []
