# SPDX-License-Identifier: Apache-2.0
"""SwiGLU: the first half of a row gates the second, bfloat16."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        gate, value = x.chunk(2, dim=-1)
        return functional.silu(gate) * value


def get_inputs() -> list[Tensor]:
    return [torch.randn(300, 1024).to(torch.bfloat16)]
