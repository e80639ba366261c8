# SPDX-License-Identifier: Apache-2.0
"""Entropy of the distribution of each row's logits; excluded entries are minus infinity."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, logits: Tensor) -> Tensor:
        likely = torch.softmax(logits, dim=-1)
        total = torch.logsumexp(logits, dim=-1)
        return total - torch.where(likely > 0, likely * logits, 0.0).sum(dim=-1)


SHAPES: list[tuple[int, int]] = [(128, 8009), (64, 1024), (1, 2), (7, 30011)]


def _inputs(rows: int, columns: int) -> list[Tensor]:
    logits = torch.randn(rows, columns) * 5
    excluded = torch.rand(rows, columns) < 0.3
    excluded[:, 0] = False
    return [torch.where(excluded, torch.tensor(-float("inf")), logits)]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
