# SPDX-License-Identifier: Apache-2.0
"""Gradient of x * sigmoid(x), from x and the gradient of the result."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, grad: Tensor) -> Tensor:
        gate = torch.sigmoid(x)
        return grad * gate * (1 + x * (1 - gate))


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(1023, 1025, dtype=torch.float16) * 4,
        torch.randn(1023, 1025, dtype=torch.float16) * 2,
    ]


def get_init_inputs() -> list[object]:
    return []
