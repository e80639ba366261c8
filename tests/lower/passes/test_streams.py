# SPDX-License-Identifier: Apache-2.0
"""Inputs that a kernel reads once bypass the cache; other tensors keep their place in it."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import HOST, form, typed

from npuforge.lower.streams import streamed_parameters

LOOP = """
for t in range(n):
    {before}
    with tl.copyin():
        tl.load(x + {offset}, a)
    with tl.copyout():
        tl.store(y + t * 64, a)
"""


def streamed(offset: str, before: str = "k = t", more: str = "", host: str = HOST) -> list[str]:
    body = LOOP.format(offset=offset, before=before)
    return streamed_parameters(typed(body + more, host=host))


@pytest.mark.parametrize(
    ("before", "offset"),
    [("k = t", "t * 64"), ("k = 64 * t", "k"), ("k = 64 * t\n    j = k + n", "j - n")],
    ids=["counter", "one scalar", "two scalars"],
)
def test_a_load_that_moves_with_its_loop_streams(before: str, offset: str) -> None:
    assert streamed(offset, before) == ["x"]


@pytest.mark.parametrize(
    ("before", "offset", "more"),
    [
        ("k = t", "n", ""),
        ("k = t", "t * 64", "with tl.copyin():\n    tl.load(x, b)"),
        ("k = t", "t * 64", "with tl.copyin():\n    s = tl.load_scalar(x)"),
        ("k = t", "t * 64", "if n > 8:\n    with tl.copyin():\n        tl.load(x, b)"),
    ],
    ids=["the same elements each round", "loaded twice", "element read", "loaded in a branch too"],
)
def test_a_tensor_that_is_read_again_stays(before: str, offset: str, more: str) -> None:
    assert streamed(offset, before, more) == []


def test_overlapping_loads_stay() -> None:
    body = LOOP.format(offset="t * 64", before="k = t")
    assert streamed_parameters(typed(body.replace("64, a)", "64, a, again=True)", 1))) == []


def test_every_loop_around_the_load_must_move() -> None:
    nested = """
    for r in range(8):
        for t in range(n):
            with tl.copyin():
                tl.load(x + {offset}, a)
    """
    assert streamed_parameters(typed(nested.format(offset="t * 64 + r"))) == ["x"]
    assert streamed_parameters(typed(nested.format(offset="t * 64"))) == []
    assert streamed_parameters(typed(nested.format(offset="r * 64"))) == []


def test_a_tensor_updated_in_place_streams_and_a_workspace_does_not() -> None:
    body = LOOP.format(offset="t * 64", before="k = t")
    updated = HOST.replace("tl.input(tl.float32)", "tl.inout(tl.float32)")
    assert streamed_parameters(typed(body, host=updated)) == ["x"]
    workspace = HOST.replace(
        "demo_kernel[4](x,", "w = tl.workspace((n,), tl.float32)\n    demo_kernel[4](w,"
    )
    assert streamed_parameters(typed(body, host=workspace)) == []


def test_the_host_decides_by_a_quarter_of_the_cache_and_init_turns_it_off() -> None:
    body = LOOP.format(offset="t * 64", before="k = t")
    quarter = 192 * 2**20 // 4
    (decided,) = (line.strip() for line in form("host", body) if "xStreams" in line)
    assert decided == f"plan.tiling.xStreams = (ElementCount(xShape) * 4 > {quarter} ? 1 : 0);"
    text = "\n".join(line.strip() for line in form("compute", body))
    hint = "xGm.SetL2CacheHint<CacheRwMode::READ>(CacheMode::CACHE_MODE_DISABLE);"
    assert f"if (xStreams != 0) {{\n{hint}\n}}" in text
    assert "SetL2CacheHint" not in "\n".join(
        form("compute", body.replace("+ t * 64, a)", "+ n, a)", 1))
    )
