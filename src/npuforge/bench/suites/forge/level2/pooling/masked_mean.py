# SPDX-License-Identifier: Apache-2.0
"""Mean of the tokens that a mask keeps (sentence embeddings); none kept gives zeros."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        weight = mask.to(hidden.dtype)[:, :, None]
        return (hidden * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1e-9)


SHAPES: list[tuple[int, int, int]] = [(12, 150, 385), (4, 64, 256), (1, 1, 1), (5, 43, 47)]


def _inputs(batch: int, tokens: int, width: int) -> list[Tensor]:
    mask = torch.rand(batch, tokens) < 0.6
    mask[-1] = False
    mask[0] = True
    return [torch.randn(batch, tokens, width) * 4, mask]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
