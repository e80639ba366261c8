# SPDX-License-Identifier: Apache-2.0
"""Two tensors side by side, and their difference stacked on their sum."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        return torch.cat([a, b], dim=-1), torch.stack([a[:, :64] - b, a[:, :64] + b])


def get_inputs() -> list[Tensor]:
    return [torch.randn(90, 100), torch.randn(90, 64)]
