# SPDX-License-Identifier: Apache-2.0
"""Mean of all values so far along the time axis."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        count = torch.arange(1, x.shape[1] + 1, device=x.device, dtype=x.dtype)
        return torch.cumsum(x, dim=1) / count[:, None]


SHAPES: list[tuple[int, int, int]] = [(8, 200, 301), (4, 128, 64), (1, 1, 1), (3, 53, 59)]


def _inputs(batch: int, steps: int, width: int) -> list[Tensor]:
    return [torch.randn(batch, steps, width) * 3 + torch.randn(batch, 1, width) * 5]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
