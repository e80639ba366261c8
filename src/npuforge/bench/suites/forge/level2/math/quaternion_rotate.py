# SPDX-License-Identifier: Apache-2.0
"""Vectors turned by unit quaternions (given at any length)."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, quaternion: Tensor, vector: Tensor) -> Tensor:
        unit = quaternion / quaternion.norm(dim=-1, keepdim=True).clamp(min=1e-8)
        w, axis = unit[:, :1], unit[:, 1:]
        twice = 2 * torch.linalg.cross(axis, vector, dim=-1)
        turned: Tensor = vector + w * twice + torch.linalg.cross(axis, twice, dim=-1)
        return turned


def get_inputs() -> list[Tensor]:
    return [torch.randn(50021, 4) * 3, torch.randn(50021, 3) * 5]


def get_init_inputs() -> list[object]:
    return []
