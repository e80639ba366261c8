# SPDX-License-Identifier: Apache-2.0
"""The moving average of parameters, updated in place."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, average: Tensor, parameter: Tensor) -> Tensor:
        return average.mul_(0.75).add_(parameter, alpha=0.25)


SHAPES: list[tuple[int]] = [(1000003,), (524288,), (1,), (257,)]


def _inputs(count: int) -> list[Tensor]:
    return [torch.randn(count) * 3, torch.randn(count) * 3]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
