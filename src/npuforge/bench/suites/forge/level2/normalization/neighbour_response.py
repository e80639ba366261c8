# SPDX-License-Identifier: Apache-2.0
"""Each value divided by a power of the energy of five neighbouring channels."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.local_response_norm(x, size=5, alpha=0.3, beta=0.75, k=2.0)


def get_inputs() -> list[Tensor]:
    return [torch.randn(3, 64, 27, 29) * 5]


def get_init_inputs() -> list[object]:
    return []
