# SPDX-License-Identifier: Apache-2.0
"""Softmax with one learnt logit a head that takes weight and is dropped."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self, heads: int) -> None:
        super().__init__()
        self.sink = nn.Parameter(torch.randn(heads) * 2)

    def forward(self, scores: Tensor) -> Tensor:
        sink = self.sink[:, None, None].expand(scores.shape[0], -1, scores.shape[2], 1)
        joined = torch.cat([scores, sink], dim=-1)
        return torch.softmax(joined, dim=-1)[..., :-1]


def get_inputs() -> list[Tensor]:
    return [torch.randn(2, 16, 120, 257) * 3]


def get_init_inputs() -> list[object]:
    return [16]
