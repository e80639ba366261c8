# SPDX-License-Identifier: Apache-2.0
"""Symmetric logarithm (DreamerV3): sign(x) log(1 + abs(x)), infinities and NaN included."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.sign(x) * torch.log1p(torch.abs(x))


SHAPES: list[tuple[int]] = [(1000003,), (1048576,), (1,), (31,), (4097,)]


def _inputs(count: int) -> list[Tensor]:
    x = torch.randn(count) * torch.exp(torch.randn(count) * 4)
    edges = torch.tensor([0.0, float("inf"), -float("inf"), float("nan"), 3e38, 1e-7, -1e-7])
    x[:7] = edges[: x.shape[0]]
    return [x]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
