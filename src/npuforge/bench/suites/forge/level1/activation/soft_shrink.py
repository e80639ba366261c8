# SPDX-License-Identifier: Apache-2.0
"""Soft shrinkage (sparse coding): towards zero by 0.75, zero in between."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.softshrink(x, 0.75)


SHAPES: list[tuple[int, int, int]] = [(40, 160, 161), (8, 128, 256), (1, 1, 3), (5, 7, 11)]


def _inputs(a: int, b: int, c: int) -> list[Tensor]:
    return [torch.randn(a, b, c, dtype=torch.bfloat16) * 2]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
