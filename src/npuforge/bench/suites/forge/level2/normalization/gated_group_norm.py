# SPDX-License-Identifier: Apache-2.0
"""Gate by SiLU, then root-mean-square norm over groups of the row (Mamba 2)."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width) * 0.5 + 1)

    def forward(self, x: Tensor, gate: Tensor) -> Tensor:
        mixed = x.float() * functional.silu(gate.float())
        groups = mixed.view(*x.shape[:2], 8, -1)
        scale = torch.rsqrt(groups.square().mean(dim=-1, keepdim=True) + 1e-5)
        return ((groups * scale).flatten(-2) * self.weight).to(x.dtype)


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(3, 170, 1048, dtype=torch.bfloat16) * 3,
        torch.randn(3, 170, 1048, dtype=torch.bfloat16) * 3,
    ]


def get_init_inputs() -> list[object]:
    return [1048]
