# SPDX-License-Identifier: Apache-2.0
"""Whether two values are near each other, by absolute and relative distance; never for NaN."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.isclose(a, b, rtol=1e-2, atol=1e-3)


def get_inputs() -> list[Tensor]:
    a = torch.randn(800, 1201) * 10
    b = a * (1 + torch.randn(800, 1201) * 0.02)
    a[0, :4] = torch.tensor([float("inf"), float("inf"), float("nan"), -float("inf")])
    b[0, :4] = torch.tensor([float("inf"), -float("inf"), float("nan"), 1.0])
    return [a, b]


def get_init_inputs() -> list[object]:
    return []
