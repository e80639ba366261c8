# SPDX-License-Identifier: Apache-2.0
"""One step of the Haar wavelet transform of images: means and three differences."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        a, b = x[..., 0::2, 0::2], x[..., 0::2, 1::2]
        c, d = x[..., 1::2, 0::2], x[..., 1::2, 1::2]
        return (a + b + c + d) / 2, (a - b + c - d) / 2, (a + b - c - d) / 2, (a - b - c + d) / 2


def get_inputs() -> list[Tensor]:
    return [torch.randn(7, 9, 122, 90) * 4]


def get_init_inputs() -> list[object]:
    return []
