# SPDX-License-Identifier: Apache-2.0
"""Layer norm over the channels of an image whose channels come first."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        wide = x.float()
        variance, mean = torch.var_mean(wide, dim=1, correction=0, keepdim=True)
        scaled = (wide - mean) * torch.rsqrt(variance + 1e-6)
        return (scaled * weight[:, None, None] + bias[:, None, None]).to(x.dtype)


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(4, 96, 49, 53, dtype=torch.float16) * 2 + 1,
        torch.randn(96),
        torch.randn(96),
    ]


def get_init_inputs() -> list[object]:
    return []
