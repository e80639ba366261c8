# SPDX-License-Identifier: Apache-2.0
"""How many entries of each column are not zero."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.count_nonzero(x, dim=0)


def get_inputs() -> list[Tensor]:
    density = torch.rand(1, 333)
    values = torch.randint(-5, 6, (3001, 333), dtype=torch.int32)
    return [torch.where(torch.rand(3001, 333) < density, values, torch.zeros_like(values))]


def get_init_inputs() -> list[object]:
    return []
