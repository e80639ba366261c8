# SPDX-License-Identifier: Apache-2.0
"""Quotients, remainders and bits of int32, the result in int16."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return ((a // 7 + a % 5) ^ (b & 255)).to(torch.int16)


def get_inputs() -> list[Tensor]:
    a = torch.randint(-90000, 90000, (200, 513), dtype=torch.int32)
    return [a, torch.randint(0, 1000, (200, 513), dtype=torch.int32)]
