# SPDX-License-Identifier: Apache-2.0
"""Blocks of 2 x 2 pixels become channels."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, image: Tensor) -> Tensor:
        return functional.pixel_unshuffle(image, 2)


def get_inputs() -> list[Tensor]:
    return [torch.randn(6, 13, 94, 130, dtype=torch.float16) * 5]


def get_init_inputs() -> list[object]:
    return []
