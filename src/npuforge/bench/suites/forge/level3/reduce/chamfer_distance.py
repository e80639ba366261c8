# SPDX-License-Identifier: Apache-2.0
"""For two clouds of points, the squared distance of each point to the other cloud."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        apart = (a[:, :, None, :] - b[:, None, :, :]).square().sum(dim=-1)
        to_b, to_a = apart.amin(dim=2), apart.amin(dim=1)
        return to_b, to_a, to_b.mean(dim=1) + to_a.mean(dim=1)


def get_inputs() -> list[Tensor]:
    return [torch.randn(2, 601, 3) * 3, torch.randn(2, 503, 3) * 3 + 1]


def get_init_inputs() -> list[object]:
    return []
