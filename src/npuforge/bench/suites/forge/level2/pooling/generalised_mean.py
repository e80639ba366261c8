# SPDX-License-Identifier: Apache-2.0
"""Mean of a learnt power over the image, and the root of it (image retrieval)."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self, power: float) -> None:
        super().__init__()
        self.power = nn.Parameter(torch.tensor([power]))

    def forward(self, x: Tensor) -> Tensor:
        raised = x.clamp(min=1e-6).pow(self.power)
        return raised.mean(dim=(2, 3)).pow(1 / self.power)


def get_inputs() -> list[Tensor]:
    return [torch.randn(8, 150, 31, 33) * 2]


def get_init_inputs() -> list[object]:
    return [3.0]
