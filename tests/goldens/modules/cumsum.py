# SPDX-License-Identifier: Apache-2.0
"""Running sums along rows."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cumsum(x, dim=-1)


def get_inputs() -> list[Tensor]:
    return [torch.randn(150, 900)]
