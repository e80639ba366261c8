# SPDX-License-Identifier: Apache-2.0
"""Binary cross entropy of logits, positives weighted by class, not reduced."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(
            logits, target, pos_weight=weight, reduction="none"
        )


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(3000, 313) * 10,
        (torch.rand(3000, 313) < 0.3).to(torch.float32),
        torch.rand(313) * 5 + 0.1,
    ]


def get_init_inputs() -> list[object]:
    return []
