# SPDX-License-Identifier: Apache-2.0
"""Stereo samples of 16 bits in reverse order of time."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, samples: Tensor) -> Tensor:
        return torch.flip(samples, dims=[-1])


def get_inputs() -> list[Tensor]:
    return [torch.randint(-32768, 32768, (16, 2, 30011), dtype=torch.int16)]


def get_init_inputs() -> list[object]:
    return []
