# SPDX-License-Identifier: Apache-2.0
"""Shapes that a host function cannot compute with."""

from __future__ import annotations

import pytest

from npuforge.errors import UsageError
from npuforge.lower.compiler import lower
from npuforge.lower.tiling import compute_tiling

_TEXT = """\
import tile.language as tl


@ascend_kernel
def work(x, y, n):
    a = tl.alloc_ub(64, dtype=tl.float32)
    with tl.copyin():
        tl.load(x, a[:n])
    with tl.copyout():
        tl.store(y, a[:n])


def work_host(x: tl.input(tl.float32), y: tl.output(tl.float32, (64,))):
    n = HERE
    work[1](x, y, n)
"""


@pytest.mark.parametrize(
    "count", ["64 // (x.shape[0] - 3)", "tl.cdiv(64, x.shape[0] - 3)", "int(64 / (x.shape[0] - 3))"]
)
def test_a_host_that_divides_by_zero_refuses_the_shapes(count: str) -> None:
    lowered = lower(_TEXT.replace("HERE", count))
    assert compute_tiling(lowered, {"x": (5,)}).blocks == 1
    with pytest.raises(UsageError, match="work: its host cannot compute"):
        compute_tiling(lowered, {"x": (3,)})
