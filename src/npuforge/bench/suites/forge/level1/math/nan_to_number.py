# SPDX-License-Identifier: Apache-2.0
"""NaN, infinity and minus infinity replaced by numbers, all else kept."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.nan_to_num(x, nan=0.5, posinf=1000.0, neginf=-1000.0)


def get_inputs() -> list[Tensor]:
    x = torch.randn(1000, 1111) * 100
    chance = torch.rand(1000, 1111)
    x = torch.where(chance < 0.1, torch.full((1000, 1111), float("nan")), x)
    x = torch.where(chance > 0.9, torch.sign(x) * float("inf"), x)
    return [x.to(torch.float16)]


def get_init_inputs() -> list[object]:
    return []
