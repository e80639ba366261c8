# SPDX-License-Identifier: Apache-2.0
"""Squared ReLU (Primer): relu(x)^2."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x).square()


SHAPES: list[tuple[int, int]] = [(1024, 1536), (777, 1333), (13, 31), (1, 1), (3, 100003)]


def _inputs(rows: int, columns: int) -> list[Tensor]:
    return [torch.randn(rows, columns, dtype=torch.float16) * 4]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
