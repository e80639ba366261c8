# SPDX-License-Identifier: Apache-2.0
"""log of the running sum of exp(x), for values whose exp overflows."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.logcumsumexp(x, dim=-1)


def get_inputs() -> list[Tensor]:
    return [torch.randn(400, 700) * 50]


def get_init_inputs() -> list[object]:
    return []
