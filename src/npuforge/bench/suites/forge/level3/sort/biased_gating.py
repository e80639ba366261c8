# SPDX-License-Identifier: Apache-2.0
"""The six experts with the largest biased scores, weighted by their scores without bias."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, logits: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        score = torch.sigmoid(logits)
        chosen = torch.topk(score + bias, 6, dim=-1).indices
        weight = score.gather(-1, chosen)
        return weight / weight.sum(dim=-1, keepdim=True) * 2.5, chosen


SHAPES: list[tuple[int, int]] = [(2000, 72), (512, 64), (1, 6), (101, 160)]


def _inputs(tokens: int, experts: int) -> list[Tensor]:
    return [torch.randn(tokens, experts) * 2, torch.randn(experts) * 0.2]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
