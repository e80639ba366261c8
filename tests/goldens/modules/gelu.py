# SPDX-License-Identifier: Apache-2.0
"""GELU of float16: one elementwise schedule."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.gelu(x)


def get_inputs() -> list[Tensor]:
    return [torch.randn(300, 1111).half()]
