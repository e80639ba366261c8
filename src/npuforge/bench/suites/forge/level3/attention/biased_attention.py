# SPDX-License-Identifier: Apache-2.0
"""Attention with a learnt bias by bucket of distance (T5), the future excluded."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self, heads: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(32, heads))

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        length = query.shape[2]
        place = torch.arange(length, device=query.device)
        distance = (place[:, None] - place[None, :]).clamp(min=0)
        far = torch.log(distance.float().clamp(min=1) / 16) * 7.7
        bucket = torch.where(distance < 16, distance, (16 + far).clamp(max=31).long())
        scores = query @ key.transpose(-1, -2) * 0.125 + self.bias[bucket].permute(2, 0, 1)
        excluded = place[None, :] > place[:, None]
        return torch.softmax(scores.masked_fill(excluded, -float("inf")), dim=-1) @ value


def get_inputs() -> list[Tensor]:
    return [torch.randn(2, 8, 190, 64) * 2 for _ in range(3)]


def get_init_inputs() -> list[object]:
    return [8]
