# SPDX-License-Identifier: Apache-2.0
"""Entropy, largest share and its place of rows of logits far longer than a core's memory."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        wide = logits.float()
        total = torch.logsumexp(wide, dim=-1)
        likely = torch.exp(wide - total[:, None])
        entropy = total - (likely * wide).sum(dim=-1)
        best = wide.argmax(dim=-1)
        return entropy, likely.amax(dim=-1), best


def get_inputs() -> list[Tensor]:
    return [(torch.randn(20, 151936) * 4)]


def get_init_inputs() -> list[object]:
    return []
