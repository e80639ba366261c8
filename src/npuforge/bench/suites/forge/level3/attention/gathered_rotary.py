# SPDX-License-Identifier: Apache-2.0
"""Rotary embedding of neighbouring pairs of queries and keys, rows of the tables by position."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self, positions: int, width: int) -> None:
        super().__init__()
        power = torch.arange(0, width, 2) / width
        angle = torch.arange(positions)[:, None] * 500000.0**-power
        self.cosine = nn.Buffer(torch.cos(angle))
        self.sine = nn.Buffer(torch.sin(angle))

    def forward(self, query: Tensor, key: Tensor, position: Tensor) -> tuple[Tensor, Tensor]:
        cosine = self.cosine[position][:, None]
        sine = self.sine[position][:, None]
        turned = []
        for part in (query, key):
            even, odd = part[..., 0::2].float(), part[..., 1::2].float()
            pair = [even * cosine - odd * sine, even * sine + odd * cosine]
            turned.append(torch.stack(pair, dim=-1).flatten(-2).to(part.dtype))
        return turned[0], turned[1]


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(203, 16, 128, dtype=torch.bfloat16) * 2,
        torch.randn(203, 4, 128, dtype=torch.bfloat16) * 2,
        torch.randint(0, 1000, (203,)),
    ]


def get_init_inputs() -> list[object]:
    return [1000, 128]
