# SPDX-License-Identifier: Apache-2.0
"""Largest of windows of 3 x 3, every second one."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.max_pool2d(x, 3, stride=2, padding=1)


def get_inputs() -> list[Tensor]:
    return [torch.randn(4, 16, 45, 61)]
