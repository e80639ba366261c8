# SPDX-License-Identifier: Apache-2.0
"""Colours of points seen from directions: spherical harmonics to the second degree."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, coefficient: Tensor, direction: Tensor) -> Tensor:
        unit: Tensor = direction / direction.norm(dim=-1, keepdim=True)
        x, y, z = unit[:, 0:1], unit[:, 1:2], unit[:, 2:3]
        basis = [
            torch.full_like(x, 0.28209479),
            -0.48860251 * y,
            0.48860251 * z,
            -0.48860251 * x,
            1.09254843 * x * y,
            -1.09254843 * y * z,
            0.31539157 * (2 * z * z - x * x - y * y),
            -1.09254843 * x * z,
            0.54627421 * (x * x - y * y),
        ]
        colour = coefficient[:, 0] * basis[0]
        for place in range(1, 9):
            colour = colour + coefficient[:, place] * basis[place]
        return (colour + 0.5).clamp(min=0)


def get_inputs() -> list[Tensor]:
    return [torch.randn(20011, 9, 3), torch.randn(20011, 3) * 4]


def get_init_inputs() -> list[object]:
    return []
