# SPDX-License-Identifier: Apache-2.0
"""Rows taken with a step, and whole blocks gathered: interpreter against kernel."""

from __future__ import annotations

import numpy as np
import pytest
from tests.lower.differential import Differential

from npuforge.lower.compiler import lower
from npuforge.tile.source import TileError

STEPS = """import tile.language as tl


@ascend_kernel
def steps_kernel(x, y, z, rows, cols, step):
    a = tl.alloc_ub((rows * step, cols), dtype=tl.float32)
    b = tl.alloc_ub((rows, cols), dtype=tl.float32)
    c = tl.alloc_ub((rows * step, cols), dtype=tl.float32)
    d = tl.alloc_ub((cols, rows), dtype=tl.float32)
    with tl.copyin():
        tl.load(x, a, stride=cols)
    with tl.compute():
        tl.maximum(b, a[0 : rows * step : step, :], a[step - 1 : step - 1 + rows * step : step, :])
        tl.fill(c, 0.0)
        tl.mul(c[0 : rows * step : step, :], a[0 : rows * step : step, :], 2.0)
        tl.add(c[0 : rows * step : step, :], c[0 : rows * step : step, :], b)
        tl.transpose(d, c[0 : rows * step : step, :])
    with tl.copyout():
        tl.store(y, d, stride=rows)
        tl.store(z, c[0 : rows * step : step, :], stride=cols)


def steps_host(
    x: tl.input(tl.float32),
    step: tl.attr(int),
    y: tl.output(tl.float32, (x.shape[1], x.shape[0] // step)),
    z: tl.output(tl.float32, (x.shape[0] // step, x.shape[1])),
):
    rows, cols = x.shape
    tl.require(step >= 1 and rows % step == 0 and rows * cols <= 4096, "one tile of whole steps")
    steps_kernel[1](x, y, z, rows // step, cols, step)
"""

BLOCKS = """import tile.language as tl


@ascend_kernel
def blocks_kernel(x, index, y, rows, cols, blocks):
    a = tl.alloc_ub((rows, cols), dtype=tl.float32)
    i = tl.alloc_ub(rows * blocks, dtype=tl.int32)
    b = tl.alloc_ub((rows, blocks * 8), dtype=tl.float32)
    with tl.copyin():
        tl.load(x, a, stride=cols)
        tl.load(index, i)
    with tl.compute():
        tl.gather_blocks(b, a, i)
    with tl.copyout():
        tl.store(y, b, stride=blocks * 8)


def blocks_host(
    x: tl.input(tl.float32),
    index: tl.input(tl.int32),
    y: tl.output(tl.float32, (x.shape[0], tl.align_up(x.shape[1], 8))),
):
    rows, cols = x.shape
    blocks = tl.cdiv(cols, 8)
    rows = tl.align_up(rows, 8)
    tl.require(rows == x.shape[0] and rows * cols <= 4096, "one tile of whole eights")
    tl.require(index.numel() == rows * blocks, "an index for each block")
    blocks_kernel[1](x, index, y, rows, cols, blocks)
"""


@pytest.mark.parametrize(("rows", "cols", "step"), [(6, 8, 2), (12, 21, 3), (20, 64, 1)])
def test_rows_with_a_step(rows: int, cols: int, step: int) -> None:
    x = np.random.default_rng(1).normal(size=(rows, cols)).astype(np.float32)
    found = Differential(STEPS).agree({"x": x}, {"step": step})
    wanted = 2 * x[::step] + np.maximum(x[::step], x[step - 1 :: step])
    np.testing.assert_allclose(found["z"].data, wanted, rtol=1e-6)


def test_the_last_dimension_has_no_step() -> None:
    with pytest.raises(TileError, match="no step"):
        lower(STEPS.replace("tl.fill(c, 0.0)", "tl.fill(c[:, 0 : cols : 2], 0.0)"))
    with pytest.raises(TileError, match="below one"):
        lower(STEPS.replace("tl.fill(c, 0.0)", "tl.fill(c[0 : rows * step : step - 1, :], 0.0)"))


@pytest.mark.parametrize(("rows", "cols"), [(8, 8), (16, 13), (24, 100)])
def test_blocks(rows: int, cols: int) -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(rows, cols)).astype(np.float32)
    blocks = -(-cols // 8)
    index = rng.integers(0, rows * blocks, rows * blocks).astype(np.int32)
    Differential(BLOCKS).agree({"x": x, "index": index})
