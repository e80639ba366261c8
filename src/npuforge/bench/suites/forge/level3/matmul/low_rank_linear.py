# SPDX-License-Identifier: Apache-2.0
"""A linear layer with a low-rank correction (LoRA)."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def __init__(self, inner: int, outer: int, rank: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outer, inner) * inner**-0.5)
        self.down = nn.Parameter(torch.randn(rank, inner) * inner**-0.5)
        self.up = nn.Parameter(torch.randn(outer, rank))

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight) + 2.0 * functional.linear(
            functional.linear(x, self.down), self.up
        )


def get_inputs() -> list[Tensor]:
    return [torch.randn(130, 768) * 2]


def get_init_inputs() -> list[object]:
    return [768, 520, 16]
