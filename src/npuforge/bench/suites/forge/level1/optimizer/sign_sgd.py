# SPDX-License-Identifier: Apache-2.0
"""Parameters move by a fixed step against the sign of the gradient, and decay."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, parameter: Tensor, grad: Tensor) -> Tensor:
        return parameter * 0.999 - 0.03125 * torch.sign(grad)


def get_inputs() -> list[Tensor]:
    grad = torch.randn(1000, 1030) * 0.1
    grad = torch.where(torch.rand(1000, 1030) < 0.1, torch.zeros(1000, 1030), grad)
    return [torch.randn(1000, 1030, dtype=torch.bfloat16) * 0.2, grad.to(torch.bfloat16)]


def get_init_inputs() -> list[object]:
    return []
