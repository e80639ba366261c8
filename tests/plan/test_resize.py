# SPDX-License-Identifier: Apache-2.0
"""Resize kernels on the twin against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.plan.specials import Operation, agree

BILINEAR = "aten.upsample_bilinear2d.vec"
TRILINEAR = "aten.upsample_trilinear3d.vec"
BICUBIC = "aten.upsample_bicubic2d.vec"
NEAREST = "aten.upsample_nearest2d.vec"
EXACT = "aten._upsample_nearest_exact2d.vec"
SMOOTH = "aten._upsample_bilinear2d_aa.default"


def drawn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7)).to(dtype)


@pytest.mark.parametrize(
    ("op", "shape", "arguments"),
    [
        pytest.param(BILINEAR, (3, 5, 13, 17), (None, False, [2.0, 2.0]), id="twice"),
        pytest.param(BILINEAR, (3, 5, 13, 17), ([29, 1], True, None), id="corners"),
        pytest.param(BILINEAR, (3, 50, 4, 5), ([8, 10], False, None), id="many small planes"),
        pytest.param(BILINEAR, (1, 2, 40, 2000), ([50, 4000], False, None), id="chunks of columns"),
        pytest.param(
            "aten.upsample_bilinear2d.default", (2, 3, 7, 9), ([5, 20], False, None, 2.25), id="one"
        ),
        pytest.param(NEAREST, (3, 5, 13, 17), (None, [4.0, 4.0]), id="nearest"),
        pytest.param(NEAREST, (3, 5, 33, 37), ([20, 71], None), id="nearest to a size"),
        pytest.param(EXACT, (3, 5, 33, 37), ([20, 71], None), id="nearest, exactly"),
        pytest.param(BICUBIC, (2, 3, 16, 20), ([40, 50], True, None), id="cubic, corners"),
        pytest.param(BICUBIC, (2, 3, 16, 20), ([40, 11], False, None), id="cubic"),
        pytest.param(SMOOTH, (2, 3, 64, 50), ([30, 70], False), id="smoothed"),
        pytest.param(SMOOTH, (2, 3, 64, 150), ([5, 7], False), id="smoothed, large steps"),
        pytest.param("aten.upsample_linear1d.vec", (5, 7, 33), ([70], False, None), id="linear"),
        pytest.param(TRILINEAR, (2, 2, 5, 6, 7), (None, True, [2.0, 2.0, 2.0]), id="volume"),
        pytest.param(
            "aten.upsample_nearest3d.vec", (2, 2, 5, 6, 7), ([9, 4, 13], None), id="near volume"
        ),
    ],
)
def test_resize(op: str, shape: tuple[int, ...], arguments: Any) -> None:
    agree(Operation(op, [drawn(*shape)], arguments))


def test_narrow_types() -> None:
    half = drawn(1, 2, 20, 30, dtype=torch.float16)
    agree(Operation(BILINEAR, [half], ([50, 31], False, None)))
    brain = drawn(1, 2, 5, 6, 7, dtype=torch.bfloat16)
    agree(Operation(TRILINEAR, [brain], ([9, 11, 13], False, None)))


def test_one_program_for_many_shapes() -> None:
    operation = Operation(
        BILINEAR,
        [drawn(4, 3, 20, 32)],
        ([24, 40], False, None),
        {0: "a", 1: "b", 2: "c", 3: "d"},
        ("a", "b", "24", "40"),
    )
    agree(operation, [drawn(2, 2, 2, 2)], [drawn(1, 2, 150, 700)], [drawn(40, 3, 5, 6)])
