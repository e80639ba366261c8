# SPDX-License-Identifier: Apache-2.0
"""Channels of images scaled and shifted: numbers repeated along rows, bfloat16."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        return x * scale.view(1, -1, 1, 1) + shift.view(1, -1, 1, 1)


def get_inputs() -> list[Tensor]:
    x = torch.randn(8, 24, 33, 35).to(torch.bfloat16)
    return [x, torch.randn(24), torch.randn(24)]
