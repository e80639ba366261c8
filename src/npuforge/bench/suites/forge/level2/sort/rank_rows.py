# SPDX-License-Identifier: Apache-2.0
"""The rank of each value within its row, as a share of the row's length."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        rank = torch.argsort(torch.argsort(x, dim=-1, stable=True), dim=-1)
        return rank.to(torch.float32) / (x.shape[-1] - 1)


def get_inputs() -> list[Tensor]:
    return [torch.randn(1100, 190) * 3]


def get_init_inputs() -> list[object]:
    return []
