# SPDX-License-Identifier: Apache-2.0
"""A class drawn by given noise (Gumbel), as a one-hot row, and the soft row beside it."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, logits: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        shifted = logits - torch.log(-torch.log(noise.clamp(1e-6, 1 - 1e-6)))
        soft = torch.softmax(shifted / 0.7, dim=-1)
        place = torch.arange(logits.shape[-1], device=logits.device)
        hard = (place == shifted.argmax(dim=-1, keepdim=True)).to(logits.dtype)
        return hard, soft


def get_inputs() -> list[Tensor]:
    return [torch.randn(900, 510) * 2, torch.rand(900, 510)]


def get_init_inputs() -> list[object]:
    return []
