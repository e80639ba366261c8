# SPDX-License-Identifier: Apache-2.0
"""Rotary embedding of the first half of each head (GPT-NeoX), angles from the positions."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self, rotated: int) -> None:
        super().__init__()
        power = torch.arange(0, rotated, 2) / rotated
        self.frequency = nn.Buffer(10000.0**-power)

    def forward(self, query: Tensor, position: Tensor) -> Tensor:
        angle = position.to(torch.float32)[:, None] * self.frequency
        cosine, sine = torch.cos(angle)[:, None], torch.sin(angle)[:, None]
        half = self.frequency.shape[0]
        left, right = query[..., :half], query[..., half : 2 * half]
        turned = [left * cosine - right * sine, right * cosine + left * sine]
        return torch.cat([*turned, query[..., 2 * half :]], dim=-1)


def get_inputs() -> list[Tensor]:
    return [torch.randn(511, 12, 96) * 3, torch.randint(0, 2048, (511,))]


def get_init_inputs() -> list[object]:
    return [48]
