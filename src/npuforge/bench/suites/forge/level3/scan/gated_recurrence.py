# SPDX-License-Identifier: Apache-2.0
"""A real-gated recurrence (Griffin): gates from two inputs, the state kept in place."""

import torch
from torch import Tensor, nn
from torch.nn import functional

STEPS = 16


class Model(nn.Module):
    def forward(
        self, x: Tensor, gate: Tensor, decay: Tensor, state: Tensor
    ) -> tuple[Tensor, Tensor]:
        strength = -8 * functional.softplus(decay) * torch.sigmoid(gate)
        keep = torch.exp(strength)
        fresh = torch.sqrt(1 - torch.exp(2 * strength)) * x
        left = []
        now = state
        for step in range(STEPS):
            now = keep[:, step] * now + fresh[:, step]
            left.append(now)
        state.copy_(now)
        return torch.stack(left, dim=1), state


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(12, STEPS, 1500) * 3,
        torch.randn(12, STEPS, 1500),
        torch.randn(1500) - 2,
        torch.randn(12, 1500) * 3,
    ]


def get_init_inputs() -> list[object]:
    return []
