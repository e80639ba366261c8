# SPDX-License-Identifier: Apache-2.0
"""log(p / (1 - p)) with p held to [1e-4, 1 - 1e-4]; many values lie outside."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, p: Tensor) -> Tensor:
        return torch.logit(p, eps=1e-4)


def get_inputs() -> list[Tensor]:
    return [torch.rand(700, 1500) * 1.4 - 0.2]


def get_init_inputs() -> list[object]:
    return []
