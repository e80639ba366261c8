# SPDX-License-Identifier: Apache-2.0
"""The host function evaluated here: fields, blocks, key and workspace, or a refusal."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import SOC, lowered
from tests.lower.passes.schedules import SCHEDULES

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


def test_the_key_and_the_fields_are_those_of_the_schedule_taken() -> None:
    program = lower(SCHEDULES, SOC)
    both = compute_tiling(program, {"x": (20, 10)})
    assert (both.key, both.blocks, both.workspace_bytes) == (1, 8, 2048)  # 1600 in whole 512 bytes
    assert both.output_shapes == {"y": (20, 10)}
    taken = ("firstKernelN", "firstKernelCores", "secondKernelTile", "secondKernelABytes")
    assert [both.values[name] for name in taken] == [200, 8, 200, 1024]
    assert both.values["secondKernelTile2"] == 0
    alone = compute_tiling(program, {"x": (10, 5)})
    assert (alone.key, alone.blocks) == (0, 2)
    assert [alone.values[name] for name in (*taken, "secondKernelTile2")] == [0, 0, 0, 0, 50]


def test_a_tensor_streams_from_a_quarter_of_the_cache_on() -> None:
    program = lower(SCHEDULES, SOC)
    quarter = 192 * 2**20 // 4 // 4  # elements
    assert compute_tiling(program, {"x": (quarter,)}).values["firstKernelXStreams"] == 0
    assert compute_tiling(program, {"x": (quarter + 1,)}).values["firstKernelXStreams"] == 1


HOST = """
def demo_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape), size: tl.attr(int)):
    rows, cols = x.shape
    n = size
    demo_kernel[rows](x, y, n)
"""
FILLED = "a = tl.alloc_ub(n, dtype=tl.float32)\nwith tl.compute():\n    tl.fill(a, 0.0)"


@pytest.mark.parametrize(
    ("shapes", "attributes", "message"),
    [
        ({"x": (4, 4)}, {}, "attribute 'size' is missing"),
        ({}, {"size": 8}, "the shape of input 'x' is missing"),
        ({"x": (4,)}, {"size": 8}, "'x' needs 2 dimensions"),
        ({"x": (4, 4)}, {"size": 60000}, r"do not fit the unified buffer: 240128 bytes of 188160"),
    ],
    ids=["attribute", "shape", "rank", "capacity"],
)
def test_a_call_that_the_host_refuses(
    shapes: dict[str, tuple[int, ...]], attributes: dict[str, int], message: str
) -> None:
    program = lowered(FILLED, "", HOST)
    assert compute_tiling(program, {"x": (4, 4)}, {"size": 8}).values == {"n": 8, "aBytes": 512}
    with pytest.raises(UsageError, match=message):
        compute_tiling(program, shapes, attributes)
