# SPDX-License-Identifier: Apache-2.0
"""Rotary embedding of queries: halves of a head, tables by position."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        left, right = x.chunk(2, dim=-1)
        turned = torch.cat([-right, left], dim=-1)
        return x * cos + turned * sin


def get_inputs() -> list[Tensor]:
    angles = torch.randn(130, 64)
    return [torch.randn(2, 8, 130, 64), angles.cos(), angles.sin()]
