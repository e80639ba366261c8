# SPDX-License-Identifier: Apache-2.0
"""Smallest and largest of each row."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        low, high = torch.aminmax(x, dim=-1)
        return low, high


SHAPES: list[tuple[int, int]] = [(1777, 640), (64, 4096), (1, 1), (3, 50021), (2003, 17)]


def _inputs(rows: int, columns: int) -> list[Tensor]:
    return [torch.randn(rows, columns, dtype=torch.float16) * 30]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
