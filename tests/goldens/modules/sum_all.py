# SPDX-License-Identifier: Apache-2.0
"""The sum of all elements: a part for each core, then the sum of the parts."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.sum(x)


def get_inputs() -> list[Tensor]:
    return [torch.randn(1200, 2011)]
