# SPDX-License-Identifier: Apache-2.0
"""Half the size after a binomial blur, the border reflected (anti-aliased networks)."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x = functional.pad(x, (1, 1, 1, 1), mode="reflect")
        x = (x[..., :-2, :] + 2 * x[..., 1:-1, :] + x[..., 2:, :])[..., ::2, :]
        x = (x[..., :-2] + 2 * x[..., 1:-1] + x[..., 2:])[..., ::2]
        return x / 16


def get_inputs() -> list[Tensor]:
    return [torch.randn(4, 32, 75, 77) * 4]


def get_init_inputs() -> list[object]:
    return []
