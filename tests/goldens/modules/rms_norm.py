# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square norm of float16 with a learnt scale."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        root = torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)
        return (wide * root * self.weight).half()


def get_inputs() -> list[Tensor]:
    return [torch.randn(200, 1024).half()]


def get_init_inputs() -> list[object]:
    return [1024]
