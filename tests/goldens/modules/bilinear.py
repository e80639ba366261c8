# SPDX-License-Identifier: Apache-2.0
"""Images resized between their pixels."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.interpolate(x, size=(50, 70), mode="bilinear")


def get_inputs() -> list[Tensor]:
    return [torch.randn(2, 3, 31, 37)]
