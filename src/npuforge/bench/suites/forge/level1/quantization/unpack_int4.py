# SPDX-License-Identifier: Apache-2.0
"""Two signed numbers of 4 bits from each byte, low one first."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, packed: Tensor) -> Tensor:
        low = (packed << 4) >> 4
        high = packed >> 4
        return torch.stack([low, high], dim=-1).flatten(-2)


def get_inputs() -> list[Tensor]:
    return [torch.randint(-128, 128, (512, 1030), dtype=torch.int8)]


def get_init_inputs() -> list[object]:
    return []
