# SPDX-License-Identifier: Apache-2.0
"""Images read where a grid says."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor, grid: Tensor) -> Tensor:
        return functional.grid_sample(x, grid, align_corners=False)


def get_inputs() -> list[Tensor]:
    return [torch.randn(2, 3, 32, 40), torch.rand(2, 20, 25, 2) * 2 - 1]
