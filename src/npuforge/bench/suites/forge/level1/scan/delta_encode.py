# SPDX-License-Identifier: Apache-2.0
"""Each integer less the one before it in the row; the first stays."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.diff(x, dim=-1, prepend=torch.zeros_like(x[:, :1]))


SHAPES: list[tuple[int, int]] = [(700, 1501), (128, 1024), (1, 2), (67, 71)]


def _inputs(rows: int, columns: int) -> list[Tensor]:
    return [torch.randint(-1000000, 1000001, (rows, columns), dtype=torch.int32)]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
