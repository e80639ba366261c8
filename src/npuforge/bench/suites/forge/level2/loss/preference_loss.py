# SPDX-License-Identifier: Apache-2.0
"""Direct preference optimisation, from log likelihoods of tokens and masks of the answers."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(
        self, chosen: Tensor, rejected: Tensor, base: Tensor, chosen_mask: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        better = torch.where(chosen_mask, chosen - base[0], 0.0).sum(dim=-1)
        worse = torch.where(mask, rejected - base[1], 0.0).sum(dim=-1)
        margin = 0.1 * (better - worse)
        return -functional.logsigmoid(margin), margin


def get_inputs() -> list[Tensor]:
    return [
        -torch.rand(300, 701) * 4,
        -torch.rand(300, 701) * 4,
        -torch.rand(2, 300, 701) * 4,
        torch.rand(300, 701) < 0.7,
        torch.rand(300, 701) < 0.6,
    ]


def get_init_inputs() -> list[object]:
    return []
