# SPDX-License-Identifier: Apache-2.0
"""Gradients of a weight kept as direction and length (weight norm)."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, grad: Tensor, direction: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
        norm = direction.norm(dim=1, keepdim=True)
        unit = direction / norm
        along = (grad * unit).sum(dim=1, keepdim=True)
        return (grad - unit * along) * (length[:, None] / norm), along[:, 0]


def get_inputs() -> list[Tensor]:
    return [torch.randn(400, 2100), torch.randn(400, 2100) * 3, torch.randn(400) * 5]


def get_init_inputs() -> list[object]:
    return []
