# SPDX-License-Identifier: Apache-2.0
"""Poisson negative log likelihood of counts, from the logarithm of the rate, by row."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, log_rate: Tensor, count: Tensor) -> Tensor:
        return functional.poisson_nll_loss(log_rate, count, log_input=True, reduction="none").sum(
            dim=1
        )


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(1501, 700) * 1.5,
        torch.randint(0, 30, (1501, 700)).to(torch.float32),
    ]


def get_init_inputs() -> list[object]:
    return []
