# SPDX-License-Identifier: Apache-2.0
"""A branch's output normed, added to the stream, and the stream normed for the next branch."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(
        self, stream: Tensor, branch: Tensor, after: Tensor, before: Tensor
    ) -> tuple[Tensor, Tensor]:
        wide = branch.float()
        normed = wide * torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + 1e-6)
        total = stream.float() + normed * (1 + after.float())
        following = total * torch.rsqrt(total.square().mean(dim=-1, keepdim=True) + 1e-6)
        return total.to(stream.dtype), (following * (1 + before.float())).to(stream.dtype)


SHAPES: list[tuple[int, int]] = [(300, 2304), (64, 1024), (1, 3), (7, 24001)]


def _inputs(tokens: int, width: int) -> list[Tensor]:
    return [
        torch.randn(tokens, width, dtype=torch.bfloat16) * 4,
        torch.randn(tokens, width, dtype=torch.bfloat16) * 4,
        torch.randn(width, dtype=torch.bfloat16),
        torch.randn(width, dtype=torch.bfloat16),
    ]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
