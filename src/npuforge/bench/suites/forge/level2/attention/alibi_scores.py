# SPDX-License-Identifier: Apache-2.0
"""Scores less a slope of the head times the distance in the past; the future is excluded."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, scores: Tensor, slope: Tensor) -> Tensor:
        query = torch.arange(scores.shape[-2], device=scores.device)[:, None]
        key = torch.arange(scores.shape[-1], device=scores.device)[None, :]
        distance = (query - key).to(scores.dtype)
        biased = scores - slope[:, None, None] * distance
        return torch.where(key <= query, biased, -float("inf"))


SHAPES: list[tuple[int, int, int, int]] = [
    (2, 12, 201, 203),
    (1, 8, 128, 128),
    (1, 1, 1, 2),
    (1, 3, 37, 41),
]


def _inputs(batch: int, heads: int, queries: int, keys: int) -> list[Tensor]:
    return [torch.randn(batch, heads, queries, keys) * 5, torch.rand(heads)]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
