# SPDX-License-Identifier: Apache-2.0
"""Nearest pixel by pixel centres, to a size that is no multiple."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, image: Tensor) -> Tensor:
        return functional.interpolate(image, size=(77, 59), mode="nearest-exact")


def get_inputs() -> list[Tensor]:
    return [torch.randn(4, 31, 101, 83) * 5]


def get_init_inputs() -> list[object]:
    return []
