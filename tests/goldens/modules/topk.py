# SPDX-License-Identifier: Apache-2.0
"""The eight largest elements of each row and their indices."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, indices = torch.topk(x, 8)
        return values, indices


def get_inputs() -> list[Tensor]:
    return [torch.randn(256, 300)]
