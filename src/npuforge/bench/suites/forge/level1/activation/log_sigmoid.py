# SPDX-License-Identifier: Apache-2.0
"""log(sigmoid(x)), right for large sizes of x, infinities and NaN."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.logsigmoid(x)


SHAPES: list[tuple[int, int]] = [(600, 1999), (256, 512), (1, 7), (89, 97)]


def _inputs(rows: int, columns: int) -> list[Tensor]:
    x = torch.randn(rows, columns) * 40
    edges = torch.tensor([float("inf"), -float("inf"), float("nan"), 0.0, -0.0, 1e30, -1e30])
    x[0, :7] = edges[: x.shape[1]]
    return [x]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
