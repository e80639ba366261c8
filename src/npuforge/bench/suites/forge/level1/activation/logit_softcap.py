# SPDX-License-Identifier: Apache-2.0
"""Soft cap of logits (Gemma 2): cap * tanh(x / cap), for logits far beyond the cap."""

import torch
from torch import Tensor, nn

CAP = 50.0


class Model(nn.Module):
    def forward(self, logits: Tensor) -> Tensor:
        return CAP * torch.tanh(logits / CAP)


def get_inputs() -> list[Tensor]:
    return [(torch.randn(512, 4100) * 60).to(torch.bfloat16)]


def get_init_inputs() -> list[object]:
    return []
