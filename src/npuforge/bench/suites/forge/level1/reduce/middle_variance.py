# SPDX-License-Identifier: Apache-2.0
"""Sample variance and mean over the middle axis; the mean is far from zero."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        variance, mean = torch.var_mean(x, dim=1, correction=1)
        return variance, mean


def get_inputs() -> list[Tensor]:
    return [torch.randn(48, 150, 130) * 3 + torch.randn(48, 1, 130) * 20]


def get_init_inputs() -> list[object]:
    return []
