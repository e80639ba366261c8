# SPDX-License-Identifier: Apache-2.0
"""Spectra times a filter for each channel, real and imaginary parts apart, and the energy."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(
        self, real: Tensor, imaginary: Tensor, filter_real: Tensor, filter_imaginary: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        first = real * filter_real - imaginary * filter_imaginary
        second = real * filter_imaginary + imaginary * filter_real
        return first, second, (first.square() + second.square()).sum(dim=-1)


SHAPES: list[tuple[int, int, int]] = [(40, 32, 257), (8, 16, 128), (1, 1, 1), (3, 5, 1031)]


def _inputs(batch: int, channels: int, bins: int) -> list[Tensor]:
    return [
        torch.randn(batch, channels, bins) * 2,
        torch.randn(batch, channels, bins) * 2,
        torch.randn(channels, bins),
        torch.randn(channels, bins),
    ]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
