# SPDX-License-Identifier: Apache-2.0
"""Log power of a spectrogram, floored eighty decibels below its peak, scaled (speech models)."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, power: Tensor) -> Tensor:
        level = torch.log10(power.clamp(min=1e-10))
        peak = level.amax(dim=(1, 2), keepdim=True)
        return (torch.maximum(level, peak - 8.0) + 4.0) / 4.0


def get_inputs() -> list[Tensor]:
    return [torch.exp(torch.randn(5, 80, 3000) * 6 - 4)]


def get_init_inputs() -> list[object]:
    return []
