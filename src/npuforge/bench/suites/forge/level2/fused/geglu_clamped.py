# SPDX-License-Identifier: Apache-2.0
"""Gated GELU whose gate and value are clamped first, gate and value in halves of the row."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        gate, value = x.view(x.shape[0], 2, -1).unbind(1)
        gate = gate.float().clamp(max=7.0)
        value = value.float().clamp(-7.0, 7.0)
        return (functional.gelu(gate, approximate="tanh") * (value + 1)).to(x.dtype)


def get_inputs() -> list[Tensor]:
    return [torch.randn(600, 2 * 1021, dtype=torch.float16) * 5]


def get_init_inputs() -> list[object]:
    return []
