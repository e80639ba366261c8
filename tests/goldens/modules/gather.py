# SPDX-License-Identifier: Apache-2.0
"""Elements of rows by index."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, index: Tensor) -> Tensor:
        return torch.gather(x, 1, index)


def get_inputs() -> list[Tensor]:
    return [torch.randn(120, 700), torch.randint(0, 700, (120, 90))]
