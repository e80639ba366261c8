# SPDX-License-Identifier: Apache-2.0
"""How much likelier the first class is than the second, and which it is."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        best = torch.topk(torch.softmax(logits, dim=-1), 2, dim=-1)
        return best.values[:, 0] - best.values[:, 1], best.indices[:, 0]


def get_inputs() -> list[Tensor]:
    return [torch.randn(1200, 300) * 4]


def get_init_inputs() -> list[object]:
    return []
