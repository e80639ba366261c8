# SPDX-License-Identifier: Apache-2.0
"""Grids, and images sampled at their places, on the twin against PyTorch."""

from __future__ import annotations

import pytest
import torch
from tests.plan.specials import Operation, agree

SAMPLE = "aten.grid_sampler_2d.default"
GRID = "aten.affine_grid_generator.default"
BILINEAR, NEAREST = 0, 1
ZEROS, BORDER, REFLECTION = 0, 1, 2


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7))


def places(*shape: int, reach: float = 1.3) -> torch.Tensor:
    """Also outside the image."""
    spread = torch.rand(*shape, 2, generator=torch.Generator().manual_seed(8))
    return (2 * spread - 1) * reach


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("size", [(3, 5, 17, 23), (3, 5, 1, 300)])
def test_grids(size: tuple[int, ...], align: bool) -> None:
    agree(Operation(GRID, [drawn(3, 2, 3)], (list(size), align)))


@pytest.mark.parametrize(
    ("mode", "padding", "align"),
    [
        (BILINEAR, ZEROS, False),
        (BILINEAR, BORDER, True),
        (BILINEAR, REFLECTION, False),
        (BILINEAR, REFLECTION, True),
        (NEAREST, ZEROS, False),
    ],
)
def test_sampling(mode: int, padding: int, align: bool) -> None:
    reach = 4.0 if padding == REFLECTION else 1.3
    inputs = [drawn(2, 3, 20, 30), places(2, 9, 11, reach=reach)]
    # Places far outside lose digits on their way back into the image.
    tolerance = 1e-4 if padding == REFLECTION else None
    agree(Operation(SAMPLE, inputs, (mode, padding, align)), tolerance=tolerance)


def test_images_larger_than_the_buffer_are_sampled_in_bands() -> None:
    """Coordinates of some hundreds have an error of 3e-5 in float32."""
    inputs = [drawn(1, 3, 200, 300), places(1, 30, 41)]
    agree(Operation(SAMPLE, inputs, (BILINEAR, ZEROS, False)), tolerance=2e-4)
