# SPDX-License-Identifier: Apache-2.0
"""Rows added to a table where an index says."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, table: Tensor, index: Tensor, rows: Tensor) -> Tensor:
        return torch.index_add(table, 0, index, rows)


def get_inputs() -> list[Tensor]:
    return [torch.randn(100, 64), torch.randint(0, 100, (500,)), torch.randn(500, 64)]
