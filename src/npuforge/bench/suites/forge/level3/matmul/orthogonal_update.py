# SPDX-License-Identifier: Apache-2.0
"""Five Newton-Schulz steps towards an orthogonal matrix (the update of Muon)."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, momentum: Tensor) -> Tensor:
        x: Tensor = momentum / (momentum.norm() + 1e-7)
        for _ in range(5):
            gram = x @ x.T
            x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
        return x


def get_inputs() -> list[Tensor]:
    return [torch.randn(160, 288)]


def get_init_inputs() -> list[object]:
    return []
