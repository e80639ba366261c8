# SPDX-License-Identifier: Apache-2.0
"""One round of Marsaglia's xorshift on 32 bits, all bit patterns."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, state: Tensor) -> Tensor:
        state = state ^ (state << 13)
        state = state ^ ((state >> 17) & 0x7FFF)
        return state ^ (state << 5)


def get_inputs() -> list[Tensor]:
    return [torch.randint(-(2**31), 2**31, (1000, 1003), dtype=torch.int64).to(torch.int32)]


def get_init_inputs() -> list[object]:
    return []
