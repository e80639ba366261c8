# SPDX-License-Identifier: Apache-2.0
"""The convolution module of a Conformer: gate, depthwise convolution in time, activation."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Conv1d(width, 2 * width, 1)
        self.depth = nn.Conv1d(width, width, 31, padding=15, groups=width)
        self.outer = nn.Conv1d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        gated = functional.glu(self.inner(x), dim=1)
        carried: Tensor = x + self.outer(functional.silu(self.depth(gated)))
        return carried


def get_inputs() -> list[Tensor]:
    return [torch.randn(3, 144, 301) * 2]


def get_init_inputs() -> list[object]:
    return [144]
