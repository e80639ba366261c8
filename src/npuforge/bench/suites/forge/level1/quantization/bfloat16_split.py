# SPDX-License-Identifier: Apache-2.0
"""Scaled rows as the sum of two bfloat16: the nearest one, and the nearest to the rest."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
        x = x * scale
        high = x.to(torch.bfloat16)
        low = (x - high.to(torch.float32)).to(torch.bfloat16)
        return high, low


SHAPES: list[tuple[int, int]] = [(1021, 1000), (512, 512), (1, 1), (129, 127)]


def _inputs(rows: int, columns: int) -> list[Tensor]:
    return [torch.randn(rows, columns) * 10, torch.rand(rows, 1) * 30 + 2]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
