# SPDX-License-Identifier: Apache-2.0
"""Cross entropy of a similarity matrix against its diagonal, by rows and by columns."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, similarity: Tensor, log_scale: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        logits = similarity * log_scale.exp().clamp(max=100)
        matched = torch.diagonal(logits)
        rows = (torch.logsumexp(logits, dim=1) - matched).mean()
        columns = (torch.logsumexp(logits, dim=0) - matched).mean()
        return (rows + columns) / 2, rows, columns


def get_inputs() -> list[Tensor]:
    return [torch.rand(701, 701) * 2 - 1, torch.rand(1) * 2 + 1]


def get_init_inputs() -> list[object]:
    return []
