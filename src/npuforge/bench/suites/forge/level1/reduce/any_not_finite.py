# SPDX-License-Identifier: Apache-2.0
"""Which rows hold an infinity or NaN (the check before an optimiser's step)."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, grad: Tensor) -> Tensor:
        return torch.logical_not(torch.isfinite(grad)).any(dim=-1)


SHAPES: list[tuple[int, int]] = [(2048, 500), (1, 2), (37, 41), (5, 70001)]


def _inputs(rows: int, columns: int) -> list[Tensor]:
    x = torch.randn(rows, columns) * 1e30
    chance = torch.rand(rows)
    x[:, columns // 2] = 3.4e38
    x[:, 0] = torch.where(chance < 0.2, torch.tensor(float("nan")), x[:, 0])
    x[:, -1] = torch.where(chance > 0.8, torch.tensor(-float("inf")), x[:, -1])
    return [x]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
