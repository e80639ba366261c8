# SPDX-License-Identifier: Apache-2.0
"""Two predictions extrapolated, then rescaled to the spread of the first, by sample."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, guided: Tensor, plain: Tensor) -> Tensor:
        mixed = plain + 7.5 * (guided - plain)
        wanted = guided.flatten(1).std(dim=1)[:, None, None, None]
        found = mixed.flatten(1).std(dim=1)[:, None, None, None]
        return 0.7 * mixed * (wanted / found) + 0.3 * mixed


def get_inputs() -> list[Tensor]:
    size = torch.rand(6, 1, 1, 1) * 3 + 0.2
    return [torch.randn(6, 4, 127, 129) * size + 1, torch.randn(6, 4, 127, 129)]


def get_init_inputs() -> list[object]:
    return []
