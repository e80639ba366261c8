# SPDX-License-Identifier: Apache-2.0
"""A step of gradient descent with momentum: both tensors in place."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, weight: Tensor, grad: Tensor, momentum: Tensor) -> Tensor:
        momentum.mul_(0.9).add_(grad + 0.01 * weight)
        weight.sub_(momentum, alpha=0.1)
        return weight


def get_inputs() -> list[Tensor]:
    return [torch.randn(700, 333), torch.randn(700, 333), torch.randn(700, 333)]
