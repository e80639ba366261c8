# SPDX-License-Identifier: Apache-2.0
"""sqrt(a^2 + b^2) over the whole range of float32, where the squares are beyond it."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.hypot(a, b)


def get_inputs() -> list[Tensor]:
    power = torch.randint(-30, 31, (1024, 769))
    return [
        torch.randn(1024, 769) * torch.pow(10.0, power),
        torch.randn(1024, 769) * torch.pow(10.0, power),
    ]


def get_init_inputs() -> list[object]:
    return []
