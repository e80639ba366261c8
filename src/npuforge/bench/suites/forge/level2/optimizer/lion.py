# SPDX-License-Identifier: Apache-2.0
"""Lion: a step by the sign of an interpolated momentum, parameters and momentum in place."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, parameter: Tensor, momentum: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        direction = torch.sign(0.9 * momentum + 0.1 * grad)
        parameter.mul_(0.99).sub_(0.05 * direction)
        momentum.mul_(0.98).add_(grad, alpha=0.02)
        return parameter, momentum


SHAPES: list[tuple[int, int]] = [(700, 1031), (256, 256), (1, 1), (127, 131)]


def _inputs(rows: int, columns: int) -> list[Tensor]:
    return [torch.randn(rows, columns) for _ in range(3)]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
