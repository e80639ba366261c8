# SPDX-License-Identifier: Apache-2.0
"""Alignment and padding: pitches, offsets, and when one instruction may run over all rows."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import code, function, typed

from npuforge.lower.geometry import Geometry
from npuforge.tile.expr import text
from npuforge.tile.ir import Buffer, Kernel, Op, View, walk


def geometry(body: str, buffers: str = "") -> tuple[Geometry, Kernel, dict[str, Buffer]]:
    kernel = typed(body, buffers)
    return Geometry(kernel, kernel.facts), kernel, {one.name: one for one in kernel.buffers}


def allocated(shape: str, dtype: str) -> tuple[Geometry, Buffer]:
    made, _, buffers = geometry(f"a = tl.alloc_ub({shape}, dtype=tl.{dtype})")
    return made, buffers["a"]


@pytest.mark.parametrize(
    ("shape", "dtype", "pitch", "pads", "size"),
    [
        ("20", "float32", "20", False, "96"),
        ("(4, 24)", "float32", "24", False, "384"),
        ("(4, 20)", "float32", "24", True, "384"),
        ("(4, 20)", "float16", "32", True, "256"),
        ("(4, 20)", "int8", "32", True, "128"),
        ("(2, 3, 20)", "float32", "24", True, "576"),
        ("(4, n)", "float32", "tl.align_up(n, 8)", True, "tl.align_up(n, 8) * 4 * 4"),
        ("(4, 8 * n)", "float32", "8 * n", False, "8 * n * 4 * 4"),
    ],
)
def test_rows_are_padded_to_blocks_of_32_bytes(
    shape: str, dtype: str, pitch: str, pads: bool, size: str
) -> None:
    made, buffer = allocated(shape, dtype)
    assert text(made.pitch(buffer)) == pitch
    assert made.has_pads(buffer) is pads
    assert text(made.bytes(buffer)) == size


def views(body: str) -> tuple[Geometry, list[View]]:
    """The operands of the last operation, the result first."""
    made, kernel, _ = geometry(body)
    *_, last = (statement for statement in walk(kernel.body) if isinstance(statement, Op))
    return made, [*last.outs, *(operand for operand in last.ins if isinstance(operand, View))]


OPERATION = """
a = tl.alloc_ub((8, 20), dtype=tl.float32)
b = tl.alloc_ub({other}, dtype=tl.float32)
with tl.compute():
    tl.fill(a, 0.0)
    {operation}
"""


@pytest.mark.parametrize(
    ("view", "offset", "rows"),
    [
        ("a", "0", "8 x 20 by 24"),
        ("a[2:4, :]", "48", "2 x 20 by 24"),
        ("a[3, :]", "72", "1 x 20 by 24"),
        ("a[n, 8:16]", "n * 24 + 8", "1 x 8 by 24"),
        ("a[:, 8:16]", "8", "8 x 8 by 24"),
        ("a[0:8:2, :]", "0", "4 x 20 by 48"),
    ],
)
def test_a_view_is_rows_at_a_pitch(view: str, offset: str, rows: str) -> None:
    made, (out, *_) = views(OPERATION.format(other="64", operation=f"tl.fill({view}, 1.0)"))
    found = made.rows(out)
    assert found is not None
    assert text(found.offset) == text(made.offset(out)) == offset
    assert f"{text(found.rows)} x {text(found.cols)} by {text(found.pitch)}" == rows


FLAT = [
    ("(8, 20)", "tl.exp(b, a)", "192"),
    ("(8, 20)", "tl.exp(b[:4, :], a[:4, :])", "96"),
    ("(8, 20)", "tl.exp(b[:, :16], a[:, :16])", None),
    ("(8, 20)", "tl.exp(b[3, :], a[5, :])", "20"),
    ("(8, 20)", "tl.exp(b[0:8:2, :], a[0:8:2, :])", None),
    ("(4, 20)", "tl.exp(b, a[0:8:2, :])", None),
    ("(8, 40)", "tl.exp(b[:, :20], a)", None),
]


@pytest.mark.parametrize(("other", "operation", "count"), FLAT)
def test_one_instruction_runs_over_rows_that_follow_each_other(
    other: str, operation: str, count: str | None
) -> None:
    made, operands = views(OPERATION.format(other=other, operation=operation))
    rows = [found for view in operands if (found := made.rows(view)) is not None]
    together = made.flat(rows)
    assert (None if together is None else text(together)) == count


@pytest.mark.parametrize(("other", "operation", "count"), FLAT)
def test_other_rows_are_taken_one_by_one(other: str, operation: str, count: str | None) -> None:
    emitted = function("Compute", OPERATION.format(other=other, operation=operation), "")
    assert any(line.startswith("for (int64_t rowIndex") for line in emitted) is (count is None)


def test_pads_that_only_a_part_of_a_row_was_written_beside_are_not_run_over() -> None:
    body = OPERATION.format(other="(8, 20)", operation="tl.exp(b, a)")
    part = body.replace("tl.fill(a, 0.0)", "tl.fill(a[:, :16], 0.0)\n    tl.fill(a[:, 16:], 0.0)")
    emitted = [function("Compute", text, "")[-3:] for text in (body, part)]
    assert emitted[0][-1] == "Exp(bLocal, aLocal, 192);"
    assert emitted[1] == [
        "for (int64_t rowIndex = 0; rowIndex < 8; ++rowIndex) {",
        "    Exp(bLocal[rowIndex * 24], aLocal[rowIndex * 24], 24);",
        "}",
    ]


def test_tiles_that_meet_in_a_mask_are_padded_as_the_narrowest_needs() -> None:
    body = """
    f = tl.alloc_ub((8, 20), dtype=tl.float32)
    t = tl.alloc_ub((8, 20), dtype=tl.bool)
    m = tl.alloc_mask((8, 20))
    with tl.compute():
        tl.fill(f, 0.0)
        tl.compare(m, f, 0.0, "gt")
    """
    made, _, buffers = geometry(body)
    assert [text(made.pitch(buffers[name])) for name in "ft"] == ["24", "32"]
    made, _, buffers = geometry(body + "    tl.bool_from_mask(t, m)\n")
    assert [text(made.pitch(buffers[name])) for name in "ft"] == ["32", "32"]


def test_a_padded_row_length_that_is_no_constant_gets_a_name() -> None:
    body = "a = tl.alloc_ub((4, n), dtype=tl.float32)\nwith tl.compute():\n    tl.fill(a, 0.0)"
    emitted = code(body, "")
    assert {name: text(size) for name, size in emitted.derived.items()} == {
        "aPitch": "tl.align_up(n, 8)",
        "aBytes": "tl.align_up(tl.align_up(n, 8) * 4 * 4, 512)",
    }
    assert function("Compute", body, "")[-1] == "Duplicate(aLocal, 0.0f, 4 * aPitch);"
