# SPDX-License-Identifier: Apache-2.0
"""New keys and values written in place where a sliding window's ring buffer has room."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(
        self, keys: Tensor, values: Tensor, key: Tensor, value: Tensor, position: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        window = keys.shape[1]
        sequence = torch.arange(keys.shape[0], device=keys.device)
        slot = position % window
        keys[sequence, slot] = key
        values[sequence, slot] = value
        return keys, values, (position + 1).clamp(max=window)


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(24, 60, 8, 72, dtype=torch.float16),
        torch.randn(24, 60, 8, 72, dtype=torch.float16),
        torch.randn(24, 8, 72, dtype=torch.float16) * 3,
        torch.randn(24, 8, 72, dtype=torch.float16) * 3,
        torch.randint(0, 1000, (24,)),
    ]


def get_init_inputs() -> list[object]:
    return []
