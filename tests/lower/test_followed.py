# SPDX-License-Identifier: Apache-2.0
"""Programs whose time depends on values are timed with values, the others without."""

from __future__ import annotations

import numpy as np
from tests.lower.format_programs import EXAMPLES
from tests.lower.test_operations import ROWS

from npuforge.dtypes import HostTensor
from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram

ROUNDS = """import tile.language as tl


@ascend_kernel
def rounds_kernel(count, y):
    tile = tl.alloc_ub(64, dtype=tl.float32)
    with tl.copyin():
        rounds = tl.load_scalar(count)
    with tl.compute():
        tl.fill(tile, 0.0)
    twice = 2 * rounds
    for t in range(twice):
        with tl.compute():
            tl.add(tile, tile, 1.0)
    with tl.copyout():
        tl.store(y, tile)


def rounds_host(count: tl.input(tl.int32), y: tl.output(tl.float32, (64,))):
    rounds_kernel[1](count, y)
"""


def test_what_decides_is_followed() -> None:
    assert TwinProgram(lower(ROUNDS)).follows_values
    assert TwinProgram(lower(ROWS)).follows_values
    for name in ("softmax", "cumsum"):  # a carried sum is a value, but decides nothing
        assert not TwinProgram(lower((EXAMPLES / f"{name}.py").read_text())).follows_values


def test_times_are_those_of_the_values() -> None:
    program = TwinProgram(lower(ROUNDS))
    zeros = program.time({"count": (1,)})
    many = HostTensor.of(np.asarray([500], np.int32))
    given = program.time({"count": (1,)}, values={"count": many})
    assert zeros.timing is not None
    assert given.timing is not None
    assert "zeros" in (zeros.timing_note or "")
    assert "values of count" in (given.timing_note or "")
    assert given.timing.time_us > 4 * zeros.timing.time_us
