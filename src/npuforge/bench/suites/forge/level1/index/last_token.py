# SPDX-License-Identifier: Apache-2.0
"""The hidden state of each sequence's last token, by its length."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, hidden: Tensor, length: Tensor) -> Tensor:
        rows = torch.arange(hidden.shape[0], device=hidden.device)
        return hidden[rows, length - 1]


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(32, 100, 769, dtype=torch.bfloat16) * 3,
        torch.randint(1, 101, (32,)),
    ]


def get_init_inputs() -> list[object]:
    return []
