# SPDX-License-Identifier: Apache-2.0
"""Adafactor: second moments kept as a row and a column, the step held to unit size."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(
        self, parameter: Tensor, row: Tensor, column: Tensor, grad: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        square = grad.square() + 1e-30
        row.mul_(0.9).add_(square.mean(dim=1), alpha=0.1)
        column.mul_(0.9).add_(square.mean(dim=0), alpha=0.1)
        share = (row / row.mean()).rsqrt()[:, None] * column.rsqrt()[None, :]
        step = grad * share
        step = step / step.square().mean().sqrt().clamp(min=1.0)
        parameter.sub_(step, alpha=0.5)
        return parameter, row, column


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(900, 700),
        torch.rand(900) + 0.01,
        torch.rand(700) + 0.01,
        torch.randn(900, 700) * torch.rand(900, 1) * 3,
    ]


def get_init_inputs() -> list[object]:
    return []
