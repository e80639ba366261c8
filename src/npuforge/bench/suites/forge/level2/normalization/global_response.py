# SPDX-License-Identifier: Apache-2.0
"""Channels scaled by their share of the energy (ConvNeXt V2), channels last."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
        energy = x.square().sum(dim=(1, 2), keepdim=True).sqrt()
        share = energy / (energy.mean(dim=-1, keepdim=True) + 1e-6)
        return x + gain * (x * share) + bias


def get_inputs() -> list[Tensor]:
    return [torch.randn(6, 29, 31, 200) * 3, torch.randn(200), torch.randn(200)]


def get_init_inputs() -> list[object]:
    return []
