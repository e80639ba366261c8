# SPDX-License-Identifier: Apache-2.0
"""Remainder of integers with the sign of the divisor."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, value: Tensor, divisor: Tensor) -> Tensor:
        return torch.remainder(value, divisor)


SHAPES: list[tuple[int, int]] = [(900, 1100), (64, 64), (1, 3), (101, 103)]


def _inputs(rows: int, columns: int) -> list[Tensor]:
    size = torch.randint(1, 1000, (rows, columns), dtype=torch.int32)
    sign = torch.randint(0, 2, (rows, columns), dtype=torch.int32) * 2 - 1
    value = torch.randint(-100000, 100001, (rows, columns), dtype=torch.int32)
    return [value, size * sign]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
