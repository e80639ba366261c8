# SPDX-License-Identifier: Apache-2.0
"""Labels as rows of zeros with a one."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, label: Tensor) -> Tensor:
        return functional.one_hot(label, 101).to(torch.float32)


def get_inputs() -> list[Tensor]:
    return [torch.randint(0, 101, (8009,))]


def get_init_inputs() -> list[object]:
    return []
