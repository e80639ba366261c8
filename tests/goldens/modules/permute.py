# SPDX-License-Identifier: Apache-2.0
"""Heads and positions change places, then channels come first."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.permute(0, 2, 3, 1).contiguous()


def get_inputs() -> list[Tensor]:
    return [torch.randn(3, 130, 8, 40)]
