# SPDX-License-Identifier: Apache-2.0
"""The median of each row of an odd number of values."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.median(x, dim=-1).values


def get_inputs() -> list[Tensor]:
    return [torch.randn(1500, 255) * 3]


def get_init_inputs() -> list[object]:
    return []
