# SPDX-License-Identifier: Apache-2.0
"""The largest value so far along each row."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cummax(x, dim=-1).values


def get_inputs() -> list[Tensor]:
    return [torch.randn(500, 1021) * 4 + torch.arange(1021) * 0.003]


def get_init_inputs() -> list[object]:
    return []
