# SPDX-License-Identifier: Apache-2.0
"""Buffers that do not suit what they hold."""

from __future__ import annotations

import pytest

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import Purpose, note
from npuforge.generate.lm.guide.rules.buffers import misshapen, overrun

_ASKED = """\
xa: float32[nb]
xb: float32[na, nb]
xc: float32[na]
xd: float32[]
where na=500, nb=9
v0 = unsqueeze(xc, 1): float32[na, 1]
v1 = sub.Tensor(v0, xb): float32[na, nb]
v2 = mul.Tensor(xa, v1): float32[na, nb]
v3 = mul.Tensor(v2, xd): float32[na, nb]
v4 = mean.dim(v3, [0]): float32[nb]
return v4
"""
_FOLDS = "Too few results for all cores: each core folds a part and keeps its state."
_ROWS = "Whole rows, several at once; what a row shares is computed once a row."
_COLUMNS = "All rows of a few columns at once: reductions run down the tile."
_STREAM = "A stream: each core takes a share of the elements."


def _said(way: str, counted: str, name: str, shape: str, asked: str = _ASKED) -> str | None:
    purpose = Purpose()
    note(purpose, way)
    note(purpose, counted)
    line = f"            {name} = tl.alloc_ub({shape}, dtype=tl.float32)"
    return misshapen(line, purpose, Meaning.read(asked))


@pytest.mark.parametrize("way", [_FOLDS, _ROWS])
@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("xa_in", ["cols"], ["tile", "(tile, cols)", "8"]),
        ("xb_in", ["(tile, cols)"], ["tile", "cols", "8"]),
        ("xc_in", ["tile"], ["cols", "(tile, cols)", "8"]),
        ("xd_in", ["8"], ["tile", "cols"]),
        ("v2", ["(tile, cols)"], ["tile", "cols"]),
    ],
)
def test_a_buffer_has_the_axes_of_its_value(
    way: str, name: str, right: list[str], wrong: list[str]
) -> None:
    for shape in right:
        assert _said(way, "rows = na, cols = nb", name, shape) is None
    for shape in wrong:
        assert "does not fit" in (_said(way, "rows = na, cols = nb", name, shape) or "")


def test_a_tile_is_of_columns_where_all_rows_are_taken_at_once() -> None:
    counted = "rows = na, cols = nb"
    assert _said(_COLUMNS, counted, "xb_in", "(rows, tile)") is None
    assert _said(_COLUMNS, counted, "xa_in", "tile") is None
    assert _said(_COLUMNS, counted, "xc_in", "rows") is None
    assert _said(_COLUMNS, counted, "xc_in", "tile") is not None
    assert _said(_STREAM, "cols = na * nb", "xb_in", "tile") is None
    assert _said(_STREAM, "cols = na * nb", "xb_in", "8") is not None


def test_what_cannot_be_known_is_left_alone() -> None:
    assert _said(_FOLDS, "rows = na, cols = nb // 2", "xc_in", "cols") is None
    moved = _ASKED.replace("v0 = unsqueeze(xc, 1)", "v0 = slice.Tensor(xc, 0, 0, 1)")
    assert _said(_FOLDS, "rows = na, cols = nb", "xc_in", "cols", moved) is None
    assert _said(_FOLDS, "rows = na, cols = nb", "t0", "cols") is None


def test_a_buffer_for_one_number_has_no_more() -> None:
    kernel = (
        "        xd_in = tl.alloc_ub(8, dtype=tl.float32, buffers=1)\n"
        "        v2 = tl.alloc_ub(tile, dtype=tl.float32)\n"
    )
    assert overrun("    tl.load(xd, xd_in[:1])", kernel) is None
    assert overrun("    tl.mul(v3[:m], v2[:m], v2[:m])", kernel) is None
    said = overrun("    tl.mul(v3[:m], v2[:m], xd_in[:m])", kernel)
    assert said == "xd_in has no m elements"


_ROW_AND_COLUMN = (("xa_in", "cols"), ("s", "tile"))


def test_a_row_has_no_element_for_each_row() -> None:
    kernel = (
        "    xa_in = tl.alloc_ub(cols, dtype=tl.int32)\n    s = tl.alloc_ub(tile, dtype=tl.int32)\n"
    )
    assert overrun("    tl.add(t1[:n, :], t0[:n, :], s[:n, None])", kernel) is None
    assert overrun("    tl.add(t1[:n, :], t0[:n, :], xa_in[:])", kernel) is None
    said = overrun("    tl.add(t1[:n, :], t0[:n, :], xa_in[:n, None])", kernel)
    assert said == "xa_in is a row, and not an element of each"


def test_what_lies_behind_one_number_is_not_read() -> None:
    made = "    t0 = tl.alloc_ub(8, dtype=tl.float32)\n"
    one, eight = "    tl.mul(t0[:1], x_in[:1], x_in[:1])\n", "    tl.load(xa, t0[:])\n"
    read = "    tl.reduce_sum(v0_fold[:1], t0[:])"
    assert overrun(read, f"{made}{one}") == "t0 has one element"
    assert overrun(read, f"{made}{eight}") is None
