# SPDX-License-Identifier: Apache-2.0
"""Operands of one instruction start in different halves of 512 bytes."""

from __future__ import annotations

from tests.lower.passes.demo import code, form, lines, typed

from npuforge.lower.placement import Slot, place
from npuforge.tile.expr import Const

ADDED = """
with tl.compute():
    tl.fill(a, 0.0)
    tl.fill(b, 1.0)
    tl.{operation}
"""


def sizes(operation: str, *wanted: tuple[str, int, int]) -> list[tuple[str, int, int]]:
    """Name, bytes and copies of each slot, for the same before the pass."""
    kernel = typed(ADDED.format(operation=operation), "a b c")
    before = [(name, Const(size), copies) for name, size, copies in wanted]
    return [_plain(slot) for slot in place(kernel, before, lambda name: name)]


def _plain(slot: Slot) -> tuple[str, int, int]:
    assert isinstance(slot.size, Const)
    return slot.name, int(slot.size.value), slot.copies


def test_the_first_of_two_operands_is_half_a_stretch_longer() -> None:
    assert form("placement", ADDED.format(operation="add(c, a, b)"), "a b c") == lines("""
        |kernel demo_kernel
        |    buffer           copies  starts at      bytes of a copy
        |    a                     1  512 * k        768
        |    b                     1  512 * k + 256  768
        |    c                     1  512 * k        512
        |    total 2048 to 2048 bytes; 188160 are there
    """)


def test_buffers_that_never_meet_lie_side_by_side() -> None:
    three = [("a", 256, 1), ("b", 256, 1), ("c", 256, 1)]
    assert sizes("exp(c, a)", *three) == [("a", 512, 1), ("b", 512, 1), ("c", 512, 1)]


def test_sizes_are_whole_stretches_of_512_bytes() -> None:
    assert sizes("exp(c, a)", ("a", 520, 1), ("b", 32, 1)) == [("a", 1024, 1), ("b", 512, 1)]


def test_the_result_is_no_operand() -> None:
    assert sizes("add(c, a, a)", ("a", 512, 1), ("c", 512, 1)) == [("a", 512, 1), ("c", 512, 1)]


def test_copies_share_the_shift_in_whole_blocks() -> None:
    assert sizes("add(c, a, b)", ("a", 512, 2), ("b", 512, 1)) == [("a", 640, 2), ("b", 512, 1)]
    assert sizes("add(c, a, b)", ("a", 512, 4), ("b", 512, 1)) == [("a", 576, 4), ("b", 512, 1)]
    assert sizes("add(c, a, b)", ("a", 512, 3), ("b", 512, 1)) == [("a", 512, 3), ("b", 512, 1)]


def test_what_stands_between_two_operands_carries_the_shift() -> None:
    assert sizes("add(c, a, b)", ("a", 512, 1), ("c", 512, 1), ("b", 512, 1)) == [
        ("a", 512, 1),
        ("c", 768, 1),
        ("b", 512, 1),
    ]


def test_a_buffer_in_the_memory_of_another_counts_as_that_one() -> None:
    kernel = typed(ADDED.format(operation="add(c, a, b)"), "a b c")
    before = [(name, Const(512), 1) for name in ("d", "b")]
    slots = place(kernel, before, lambda name: "d" if name == "a" else name)
    assert [_plain(slot) for slot in slots] == [("d", 768, 1), ("b", 512, 1)]


def test_masks_hit_no_bank() -> None:
    kernel = typed(
        "m = tl.alloc_mask(64)\n"
        + ADDED.format(operation='compare(m, a, 0.0, "gt")').strip()
        + "\n    tl.select(c, m, b, 0.0)",
        "a b c",
    )
    before = [(name, Const(512), 1) for name in ("b", "m")]
    assert [_plain(slot) for slot in place(kernel, before, lambda name: name)] == [
        ("b", 512, 1),
        ("m", 512, 1),
    ]


def test_the_emitted_buffers_have_the_rounded_sizes() -> None:
    emitted = code(ADDED.format(operation="add(c, a, b)"), "a b c").lines
    assert [line.strip() for line in emitted if "InitBuffer" in line] == [
        "pipe->InitBuffer(aBuf, 768);",
        "pipe->InitBuffer(bBuf, 768);",
        "pipe->InitBuffer(cBuf, 512);",
    ]
