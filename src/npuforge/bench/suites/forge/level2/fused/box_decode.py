# SPDX-License-Identifier: Apache-2.0
"""Boxes from anchors and predicted offsets (centre, logarithm of size), held to the image."""

import torch
from torch import Tensor, nn

WIDTH, HEIGHT = 1333.0, 800.0


class Model(nn.Module):
    def forward(self, anchor: Tensor, offset: Tensor) -> Tensor:
        size = anchor[:, 2:] - anchor[:, :2]
        centre = anchor[:, :2] + size / 2 + offset[:, :2] * size
        half = size * torch.exp(offset[:, 2:].clamp(max=4.135)) / 2
        low, high = centre - half, centre + half
        x = torch.stack([low[:, 0], high[:, 0]], dim=1).clamp(0, WIDTH)
        y = torch.stack([low[:, 1], high[:, 1]], dim=1).clamp(0, HEIGHT)
        return torch.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], dim=1)


def get_inputs() -> list[Tensor]:
    corner = torch.rand(60011, 2) * 900 - 50
    size = torch.rand(60011, 2) * 400 + 4
    return [torch.cat([corner, corner + size], dim=1), torch.randn(60011, 4)]


def get_init_inputs() -> list[object]:
    return []
