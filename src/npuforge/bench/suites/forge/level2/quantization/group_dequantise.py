# SPDX-License-Identifier: Apache-2.0
"""Weights from bytes, with a scale and a zero point for each group of 64 (AWQ)."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, packed: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
        groups = packed.view(packed.shape[0], -1, 64).to(torch.float32)
        shifted = groups - zero.to(torch.float32)[:, :, None]
        return (shifted * scale.to(torch.float32)[:, :, None]).flatten(-2).to(torch.bfloat16)


def get_inputs() -> list[Tensor]:
    return [
        torch.randint(-128, 128, (701, 1216), dtype=torch.int8),
        (torch.rand(701, 19) * 0.1 + 0.001).to(torch.float16),
        torch.randint(-20, 21, (701, 19), dtype=torch.int8),
    ]


def get_init_inputs() -> list[object]:
    return []
