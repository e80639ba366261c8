# SPDX-License-Identifier: Apache-2.0
"""x (1 + scale) + shift with scale and shift for each sample (diffusion transformers)."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
        return x * (1 + scale[:, None, :]) + shift[:, None, :]


SHAPES: list[tuple[int, int, int]] = [(4, 250, 1152), (2, 64, 768), (1, 1, 5), (3, 17, 131)]


def _inputs(batch: int, tokens: int, width: int) -> list[Tensor]:
    return [
        torch.randn(batch, tokens, width, dtype=torch.bfloat16) * 2,
        torch.randn(batch, width, dtype=torch.bfloat16) * 2,
        torch.randn(batch, width, dtype=torch.bfloat16),
    ]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
