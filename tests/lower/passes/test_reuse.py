# SPDX-License-Identifier: Apache-2.0
"""Working buffers that are never needed at the same time share memory."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import code, form, typed

from npuforge.lower.buffers import plan_buffers
from npuforge.lower.reuse import shared_memory
from npuforge.tile.expr import text

LOOP = """
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
    with tl.compute():
{compute}
    with tl.copyout():
        tl.store(y + t * 64, b)
"""


def groups(compute: str, before: str = "", buffers: str = "a b c d") -> list[str]:
    """Working buffers by the memory they share: the statements stand in a loop."""
    inner = "\n".join(f"        {line}" for line in compute.strip().splitlines())
    kernel = typed(before + LOOP.format(compute=inner).lstrip(), buffers)
    shared = shared_memory(kernel, plan_buffers(kernel))
    return [" ".join(buffer.name for buffer in group) for group in shared]


APART = """
tl.exp(c, a)
tl.copy(b, c)
tl.log(d, a)
tl.add(b, b, d)
"""


def test_lives_that_follow_each_other_share() -> None:
    assert groups(APART) == ["c d"]


def test_lives_that_overlap_do_not() -> None:
    assert groups(APART + "tl.add(b, b, c)") == ["c", "d"]


def test_a_result_may_not_lie_over_the_operand_it_is_made_from() -> None:
    assert groups("tl.exp(c, a)\ntl.log(d, c)\ntl.copy(b, d)") == ["c", "d"]


def test_a_third_buffer_takes_the_first_memory_that_is_free() -> None:
    chain = "tl.exp(c, a)\ntl.exp(d, c)\ntl.exp(e, d)\ntl.copy(b, e)"
    assert groups(chain, buffers="a b c d e") == ["c e", "d"]


def test_queues_share_nothing() -> None:
    assert groups("tl.copy(b, a)", buffers="a b") == []


@pytest.mark.parametrize(
    "carried",
    [
        "tl.add(d, d, a)",
        "if t == 0:\n    tl.log(d, a)",
        "tl.log(d[:32], a[:32])\ntl.log(d[32:], a[32:])",
    ],
    ids=["read first", "written under a condition", "put together from parts"],
)
def test_contents_that_may_stem_from_an_earlier_round_keep_their_memory(carried: str) -> None:
    filled = "with tl.compute():\n    tl.fill(d, 0.0)\n"
    assert groups(APART.replace("tl.log(d, a)", carried), filled) == ["c", "d"]


def test_parts_that_are_always_the_same_share() -> None:
    part = APART.replace("(d, a)", "(d[:32], a[:32])").replace(
        "(b, b, d)", "(b[:32], b[:32], d[:32])"
    )
    assert groups(part) == ["c d"]


def test_a_buffer_filled_before_a_loop_lives_through_it() -> None:
    before = "with tl.compute():\n    tl.fill(d, 1.0)\n"
    assert groups("tl.add(b, a, d)\ntl.exp(c, a)", before) == ["c", "d"]
    assert groups("tl.copy(b, a)\ntl.exp(c, a)", before) == ["c d"]


def test_a_buffer_used_after_an_inner_loop_lives_through_it() -> None:
    inner = "tl.fill(d, 0.0)\nfor k in range(4):\n    tl.exp(c, a)\n    {used}\ntl.copy(b, a)"
    assert groups(inner.format(used="tl.add(d, d, a)")) == ["c", "d"]
    assert groups(inner.format(used="tl.copy(b, c)")) == ["c d"]


def test_a_loop_that_may_not_run_leaves_contents_of_an_earlier_round() -> None:
    written = (
        "tl.exp(c, a)\ntl.copy(b, c)\nfor k in range({rounds}):\n    tl.log(d, a)\ntl.add(b, b, d)"
    )
    assert groups(written.format(rounds="1 - t % 2")) == ["c", "d"]
    assert groups(written.format(rounds="n")) == ["c", "d"]
    assert groups(written.format(rounds="4")) == ["c d"]
    assert groups(written.format(rounds="max(1, n)")) == ["c d"]
    within = written.format(rounds="n").replace("\ntl.add", "\n    tl.add")
    assert groups(within) == ["c d"]


def test_reading_an_element_is_a_use() -> None:
    read = "tl.fill(c[:1], 0.0)\ntl.exp(d, a)\ns = tl.extract_scalar(c, 0)\ntl.mul(b, d, s)"
    assert groups(read) == ["c", "d"]
    early = "tl.fill(c[:1], 0.0)\ns = tl.extract_scalar(c, 0)\ntl.exp(d, a)\ntl.mul(b, d, s)"
    assert groups(early) == ["c d"]


def test_the_shared_memory_is_as_large_as_the_largest_and_has_one_member() -> None:
    body = """
    wide = tl.alloc_ub(256, dtype=tl.float32)
    with tl.compute():
        tl.fill(a, 1.0)
        tl.exp(a, a)
        tl.fill(wide, 2.0)
        tl.exp(wide, wide)
    """
    assert [line.split() for line in form("buffers", body, "a")[2:]] == [
        ["a", "work", "1", "a"],
        ["wide", "work", "1", "a"],
    ]
    assert [(slot.name, text(slot.size)) for slot in code(body, "a").slots] == [("a", "1024")]
    (member,) = (line.strip() for line in code(body, "a").lines if "TBuf<" in line)
    assert member == "TBuf<TPosition::VECCALC> aBuf;"
    tensors = [line for line in code(body, "a").body.functions[0].lines if "LocalTensor" in line]
    assert tensors == [
        "LocalTensor<float> aLocal = aBuf.Get<float>();",
        "LocalTensor<float> wideLocal = aBuf.Get<float>();",
    ]
