# SPDX-License-Identifier: Apache-2.0
"""A second-order step (Sophia): momentum over curvature, clipped by element."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(
        self, parameter: Tensor, momentum: Tensor, curvature: Tensor, grad: Tensor
    ) -> tuple[Tensor, Tensor]:
        moved = torch.lerp(momentum, grad, 0.04)
        ratio = moved / torch.clamp(0.05 * curvature, min=1e-12)
        return parameter * 0.98 - 0.1 * ratio.clamp(-1, 1), moved


def get_inputs() -> list[Tensor]:
    curvature = torch.randn(500, 1001).square() * 40
    return [
        torch.randn(500, 1001),
        torch.randn(500, 1001),
        torch.where(torch.rand(500, 1001) < 0.1, torch.zeros(500, 1001), curvature),
        torch.randn(500, 1001),
    ]


def get_init_inputs() -> list[object]:
    return []
