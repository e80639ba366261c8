# SPDX-License-Identifier: Apache-2.0
"""A tile that each round of a loop loads again, and that is used after it: nothing races."""

from __future__ import annotations

import numpy as np
import pytest
from tests.lower.differential import Differential

from npuforge.lower.buffers import Kind

_PROGRAM = """import tile.language as tl


@ascend_kernel
def late_kernel(x, d, y, cols, tile, rounds):
    row = tl.program_id(0)
    total = tl.alloc_ub(tile, dtype=tl.float32)
    x_in = tl.alloc_ub(tile, dtype=tl.float32)
    d_in = tl.alloc_ub({room}, dtype=tl.float32)
    folded = tl.alloc_ub(8, dtype=tl.float32)
    out = tl.alloc_ub(8, dtype=tl.float32)
    with tl.compute():
        tl.fill(total, 0.0)
    for f in range(rounds):
        start = f * tile
        m = min(tile, cols - start)
        with tl.copyin():
            tl.load(d + row, d_in[{place}])
            tl.load(x + row * cols + start, x_in[:m])
        with tl.compute():
            {inside}
            tl.add(total[:m], total[:m], x_in[:m])
    with tl.compute():
        tl.reduce_sum(folded[:1], total)
        tl.sub(out[:1], d_in[:1], folded[:1])
    with tl.copyout():
        tl.store(y + row, out[:1])


def late(
    x: tl.input(tl.float32), d: tl.input(tl.float32), y: tl.output(tl.float32, (x.shape[0],))
):
    rows, cols = x.shape
    late_kernel[rows](x, d, y, cols, 128, tl.cdiv(cols, 128))
"""
_USED = "tl.mul(x_in[:m], x_in[:m], 1.0)"


@pytest.mark.parametrize(
    ("room", "place", "inside", "kind"),
    [
        ("8", ":1", _USED, Kind.EXCLUSIVE),
        ("8", ":1", "tl.add(x_in[:1], x_in[:1], d_in[:1])", Kind.EXCLUSIVE),
        ("8 * rounds", "f * 8 : f * 8 + 1", _USED, Kind.IN),
    ],
    ids=["used after it", "and in it", "other places"],
)
def test_a_tile_may_be_loaded_again(room: str, place: str, inside: str, kind: Kind) -> None:
    text = _PROGRAM.format(room=room, place=place, inside=inside)
    program = Differential(text)
    assert program.lowered.kernels[0].plan.buffers["d_in"].kind is kind
    numbers = np.random.default_rng(1)
    x = numbers.standard_normal((3, 300), dtype=np.float32)
    program.agree({"x": x, "d": numbers.standard_normal(3, dtype=np.float32)})
