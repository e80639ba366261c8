# SPDX-License-Identifier: Apache-2.0
"""Softmax over the keys that each sequence has; none at all gives zeros."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, scores: Tensor, length: Tensor) -> Tensor:
        key = torch.arange(scores.shape[-1], device=scores.device)
        valid = (key[None, :] < length[:, None])[:, None, :]
        masked = torch.where(valid, scores * 0.125, -1e30)
        weight = torch.exp(masked - masked.amax(dim=-1, keepdim=True)) * valid
        return weight / weight.sum(dim=-1, keepdim=True).clamp(min=1e-20)


SHAPES: list[tuple[int, int, int]] = [(16, 64, 500), (4, 32, 256), (1, 1, 1), (5, 7, 113)]


def _inputs(batch: int, queries: int, keys: int) -> list[Tensor]:
    length = torch.randint(0, keys + 1, (batch,))
    length[0] = keys
    length[1:2] = 0
    return [torch.randn(batch, queries, keys) * 40, length]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
