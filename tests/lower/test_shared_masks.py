# SPDX-License-Identifier: Apache-2.0
"""Masks made from tiles of several element types meet in one tile."""

from __future__ import annotations

import numpy as np
import pytest
from tests.lower.differential import Differential

PROGRAM = """
import tile.language as tl


@ascend_kernel
def both_kernel(a, x, y, rows, cols):
    truths = tl.alloc_ub((8, cols), dtype=tl.bool)
    numbers = tl.alloc_ub((8, cols), dtype=tl.float32)
    result = tl.alloc_ub((8, cols), dtype=tl.bool)
    first = tl.alloc_mask((8, cols))
    second = tl.alloc_mask((8, cols))
    for t in range(tl.cdiv(rows, 8)):
        n = min(8, rows - t * 8)
        with tl.copyin():
            tl.load(a + t * 8 * cols, truths[:n, :], stride=cols)
            tl.load(x + t * 8 * cols, numbers[:n, :], stride=cols)
        with tl.compute():
            tl.mask_from_bool(first[:n, :], truths[:n, :])
            tl.compare(second[:n, :], numbers[:n, :], 0.0, "gt")
            tl.mask_and(second[:n, :], first[:n, :], second[:n, :])
            tl.bool_from_mask(result[:n, :], second[:n, :])
        with tl.copyout():
            tl.store(y + t * 8 * cols, result[:n, :], stride=cols)


def both_host(a: tl.input(tl.bool), x: tl.input(tl.float32), y: tl.output(tl.bool, a.shape)):
    rows, cols = a.shape
    both_kernel[1](a, x, y, rows, cols)
"""


@pytest.mark.parametrize(("rows", "cols"), [(5, 3), (9, 33), (3, 256), (17, 40)])
def test_bits_of_bytes_and_floats_stand_alike(rows: int, cols: int) -> None:
    rng = np.random.default_rng(rows * cols)
    inputs = {
        "a": rng.random((rows, cols)) > 0.5,
        "x": rng.standard_normal((rows, cols)).astype(np.float32),
    }
    Differential(PROGRAM).agree(inputs, {})
