# SPDX-License-Identifier: Apache-2.0
"""Queries and keys brought to unit length by head, then scaled by a learnt vector."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, query: Tensor, key: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
        q, k = query.float(), key.float()
        q = q * torch.rsqrt(q.square().sum(dim=-1, keepdim=True) + 1e-6)
        k = k * torch.rsqrt(k.square().sum(dim=-1, keepdim=True) + 1e-6)
        return (q * scale * 8).to(query.dtype), (k * scale).to(key.dtype)


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(2, 130, 16, 72, dtype=torch.bfloat16) * 4,
        torch.randn(2, 130, 4, 72, dtype=torch.bfloat16) * 4,
        torch.randn(72) + 1,
    ]


def get_init_inputs() -> list[object]:
    return []
