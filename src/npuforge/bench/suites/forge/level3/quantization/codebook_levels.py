# SPDX-License-Identifier: Apache-2.0
"""Blocks of 64 as the nearest of 16 uneven levels and the block's largest size (NF4)."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        quantile = torch.linspace(0.03, 0.97, 16)
        level = torch.special.ndtri(quantile)
        level = level / level[-1]
        self.middle = nn.Buffer((level[1:] + level[:-1]) / 2)

    def forward(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        blocks = weight.view(weight.shape[0], -1, 64)
        largest = blocks.abs().amax(dim=-1)
        share = blocks / largest.clamp(min=1e-12)[..., None]
        above = share[..., None] > self.middle
        return above.sum(dim=-1).to(torch.uint8).flatten(-2), largest


def get_inputs() -> list[Tensor]:
    return [torch.randn(200, 1280) * 0.3]


def get_init_inputs() -> list[object]:
    return []
