# SPDX-License-Identifier: Apache-2.0
"""log(sum(exp(x))) of rows of large values; rows of minus infinity give minus infinity."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.logsumexp(x, dim=-1)


def get_inputs() -> list[Tensor]:
    x = torch.randn(30, 40, 999) * 100
    x[3] = -float("inf")
    x[5, 7, 11] = float("inf")
    x[6, :, 500:] = -float("inf")
    return [x]


def get_init_inputs() -> list[object]:
    return []
