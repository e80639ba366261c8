# SPDX-License-Identifier: Apache-2.0
"""Every patch of 3 x 3 as a column, zeros beyond the border."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.unfold(x, kernel_size=3, padding=1, stride=2)


def get_inputs() -> list[Tensor]:
    return [torch.randn(3, 20, 63, 65) * 3]


def get_init_inputs() -> list[object]:
    return []
