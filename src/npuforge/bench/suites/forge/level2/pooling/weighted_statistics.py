# SPDX-License-Identifier: Apache-2.0
"""Attentive mean and standard deviation over time (speaker embeddings), joined."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, frames: Tensor, score: Tensor) -> Tensor:
        weight = torch.softmax(score, dim=-1)
        mean = (weight * frames).sum(dim=-1)
        square = (weight * frames.square()).sum(dim=-1)
        deviation = (square - mean.square()).clamp(min=1e-4).sqrt()
        return torch.cat([mean, deviation], dim=1)


def get_inputs() -> list[Tensor]:
    return [torch.randn(6, 192, 401) * 3, torch.randn(6, 192, 401) * 2]


def get_init_inputs() -> list[object]:
    return []
