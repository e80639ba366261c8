# SPDX-License-Identifier: Apache-2.0
"""Peaks of a heat map: values that are the largest of their 3 x 3 surroundings, else zero."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        heat = torch.sigmoid(logits)
        around = functional.max_pool2d(heat, kernel_size=3, stride=1, padding=1)
        peak = heat == around
        return torch.where(peak, heat, 0.0), peak.flatten(1).sum(dim=-1)


def get_inputs() -> list[Tensor]:
    return [torch.randn(4, 20, 71, 73) * 3]


def get_init_inputs() -> list[object]:
    return []
