# SPDX-License-Identifier: Apache-2.0
"""Mean cross entropy of logits, classes by index."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, logits: Tensor, classes: Tensor) -> Tensor:
        return functional.cross_entropy(logits, classes)


def get_inputs() -> list[Tensor]:
    return [torch.randn(300, 1000), torch.randint(0, 1000, (300,))]
