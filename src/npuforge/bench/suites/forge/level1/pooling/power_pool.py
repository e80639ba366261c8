# SPDX-License-Identifier: Apache-2.0
"""Pooling by the root of the sum of squares, windows of 3 x 3 every 2."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.lp_pool2d(x, norm_type=2.0, kernel_size=3, stride=2)


def get_inputs() -> list[Tensor]:
    return [torch.randn(4, 33, 63, 97) * 3]


def get_init_inputs() -> list[object]:
    return []
