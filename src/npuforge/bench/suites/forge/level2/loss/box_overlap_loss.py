# SPDX-License-Identifier: Apache-2.0
"""One less the generalised overlap of pairs of boxes, some of them apart."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        inner = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0)
        outer = torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])
        common, hull = inner.prod(dim=1), outer.prod(dim=1)
        area = (a[:, 2:] - a[:, :2]).prod(dim=1) + (b[:, 2:] - b[:, :2]).prod(dim=1) - common
        return 1 - common / area + (hull - area) / hull


def get_inputs() -> list[Tensor]:
    a, b = torch.rand(40009, 2) * 100, torch.rand(40009, 2) * 100
    wide, tall = torch.rand(40009, 2) * 80 + 1, torch.rand(40009, 2) * 80 + 1
    return [torch.cat([a, a + wide], dim=1), torch.cat([b, b + tall], dim=1)]


def get_init_inputs() -> list[object]:
    return []
