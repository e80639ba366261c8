# SPDX-License-Identifier: Apache-2.0
"""Three gradients scaled in place to a common norm of at most ten, and the norm."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(
        self, first: Tensor, second: Tensor, third: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        energy = first.square().sum() + second.square().sum() + third.square().sum()
        norm = energy.sqrt()
        scale = (10 / (norm + 1e-6)).clamp(max=1.0)
        for grad in (first, second, third):
            grad.mul_(scale)
        return first, second, third, norm


def get_inputs() -> list[Tensor]:
    size = torch.rand(1) * 2 + 0.1
    return [
        torch.randn(500, 1001) * size,
        torch.randn(1001) * size * 4,
        torch.randn(64, 31, 3, 3) * size,
    ]


def get_init_inputs() -> list[object]:
    return []
