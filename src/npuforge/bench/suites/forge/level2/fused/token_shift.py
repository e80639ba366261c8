# SPDX-License-Identifier: Apache-2.0
"""Each token mixed with the one before it, by channel (RWKV), for two users of the mix."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor, key_mix: Tensor, value_mix: Tensor) -> tuple[Tensor, Tensor]:
        before = functional.pad(x[:, :-1], (0, 0, 1, 0))
        key = x * key_mix + before * (1 - key_mix)
        value = x * value_mix + before * (1 - value_mix)
        return key, value


SHAPES: list[tuple[int, int, int]] = [(4, 300, 515), (2, 64, 512), (1, 2, 3), (3, 19, 23)]


def _inputs(batch: int, tokens: int, width: int) -> list[Tensor]:
    return [
        torch.randn(batch, tokens, width, dtype=torch.float16) * 3,
        torch.rand(width, dtype=torch.float16),
        torch.rand(width, dtype=torch.float16),
    ]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
