# SPDX-License-Identifier: Apache-2.0
"""Divergence of a diagonal normal distribution from the standard one, with a free allowance."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, mean: Tensor, log_variance: Tensor) -> Tensor:
        log_variance = log_variance.clamp(-30, 20)
        divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance)
        return divergence.mean(dim=0).clamp(min=0.5).sum(dim=-1)


def get_inputs() -> list[Tensor]:
    spread = torch.rand(40, 500) * 2
    return [torch.randn(60, 40, 500) * spread, torch.randn(60, 40, 500) * 1.5]


def get_init_inputs() -> list[object]:
    return []
