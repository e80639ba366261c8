# SPDX-License-Identifier: Apache-2.0
"""Softmax over the last axis: the smallest module worth a kernel."""

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2048, 2048)]


def get_init_inputs() -> list[object]:
    return []
