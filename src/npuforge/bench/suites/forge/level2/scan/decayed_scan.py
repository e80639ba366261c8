# SPDX-License-Identifier: Apache-2.0
"""Exclusive running sum with a decay for each step: what came before, faded."""

import torch
from torch import Tensor, nn

STEPS = 24


class Model(nn.Module):
    def forward(self, x: Tensor, decay: Tensor) -> Tensor:
        keep = torch.sigmoid(decay)
        state = torch.zeros_like(x[:, 0])
        before = []
        for step in range(STEPS):
            before.append(state)
            state = keep[:, step] * state + x[:, step]
        return torch.stack(before, dim=1)


def get_inputs() -> list[Tensor]:
    return [torch.randn(16, STEPS, 999) * 3, torch.randn(16, STEPS, 999) * 2]


def get_init_inputs() -> list[object]:
    return []
