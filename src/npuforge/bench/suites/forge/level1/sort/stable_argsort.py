# SPDX-License-Identifier: Apache-2.0
"""The order of integers with many equal ones, which keep their order."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, key: Tensor) -> Tensor:
        return torch.argsort(key, dim=-1, stable=True)


def get_inputs() -> list[Tensor]:
    return [torch.randint(-50, 51, (600, 300), dtype=torch.int32)]


def get_init_inputs() -> list[object]:
    return []
