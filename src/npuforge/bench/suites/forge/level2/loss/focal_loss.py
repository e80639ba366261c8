# SPDX-License-Identifier: Apache-2.0
"""Focal loss of a detector: easy examples count less, positives by a quarter."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        entropy = functional.softplus(logits) - logits * target
        chance = torch.sigmoid(logits)
        miss = chance * (1 - target) + (1 - chance) * target
        weight = 0.25 * target + 0.75 * (1 - target)
        return (weight * entropy * miss.square()).sum(dim=-1)


SHAPES: list[tuple[int, int]] = [(9001, 91), (512, 80), (1, 1), (3, 4099)]


def _inputs(boxes: int, classes: int) -> list[Tensor]:
    return [
        torch.randn(boxes, classes) * 6,
        (torch.rand(boxes, classes) < 0.1).to(torch.float32),
    ]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
