# SPDX-License-Identifier: Apache-2.0
"""abs(a_i - b_j) for all pairs of two vectors."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.abs(a[:, None] - b[None, :])


def get_inputs() -> list[Tensor]:
    return [torch.randn(1301) * 10, torch.randn(1009) * 10]


def get_init_inputs() -> list[object]:
    return []
