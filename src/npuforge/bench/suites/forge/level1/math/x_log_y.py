# SPDX-License-Identifier: Apache-2.0
"""x log(y), zero where x is zero whatever y is, NaN where y is."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.xlogy(x, y)


def get_inputs() -> list[Tensor]:
    x = torch.randn(1200, 901) * 3
    x = torch.where(torch.rand(1200, 901) < 0.2, torch.zeros(1200, 901), x)
    y = torch.rand(1200, 901) * 20
    x[:, 0] = 0.0
    y[:, 0] = 0.0
    y[5, 1] = float("nan")
    y[6, 1] = float("inf")
    return [x, y]


def get_init_inputs() -> list[object]:
    return []
