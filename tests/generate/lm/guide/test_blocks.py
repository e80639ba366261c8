# SPDX-License-Identifier: Apache-2.0
"""Blocks that read, and rooms that several cores leave."""

from __future__ import annotations

import pytest

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, Purpose, note
from npuforge.generate.lm.guide.guide import Guide
from npuforge.generate.lm.guide.outline import Outline
from npuforge.generate.lm.guide.rules.blocks import foreign, read_enough
from npuforge.generate.lm.guide.rules.rooms import misplaced, uncounted_part

_ASKED = Meaning.read(
    "xa: float32[na, nb]\nwhere na=8, nb=64\nv0 = exp(xa): float32[na, nb]\nreturn v0\n"
)
_BLOCK = (
    "op():\n        with tl.copyin():\n            # xa: float32[na, nb]\n"
    "            xa_in = tl.alloc_ub((tile, cols), dtype=tl.float32)\n"
    "            tl.load(xa + start * cols, xa_in[:n, :], stride=cols)\n"
)
_VALUE = "            # v0 = exp(xa): float32[na, nb]"


def test_a_block_that_reads_is_over_where_something_is_computed() -> None:
    purpose = Purpose(ROWS, reads=["xa"], computes=["v0"])
    said = read_enough(f"{_BLOCK}{_VALUE}\n", _VALUE, purpose, _ASKED)
    assert said == f"        with tl.compute():\n{_VALUE}"
    again = "            # xa: float32[na, nb]"
    assert read_enough(f"{_BLOCK}{again}\n", again, purpose, _ASKED) == "        with tl.compute():"
    other = "            w1_in = tl.alloc_ub(tile, dtype=tl.float32)"
    assert read_enough(f"{_BLOCK}{other}\n", other, purpose, _ASKED) == "        with tl.compute():"
    assert foreign(other, purpose) == "w1 is not read"
    more = Purpose(ROWS, reads=["xa", "w1", "w2"], computes=["v0"])
    assert foreign(other, more) is None
    computing = f"{_BLOCK}        with tl.compute():\n{_VALUE}\n"
    assert read_enough(computing, _VALUE, purpose, _ASKED) is None
    left = Purpose(ROWS, reads=["xa", "w0"], computes=["v0"])
    assert read_enough(f"{_BLOCK}{_VALUE}\n", _VALUE, left, _ASKED) is None


def _folding(counted: str, room: str) -> Purpose:
    purpose = Purpose()
    for said in (
        "Too few results for all cores: each folds a part.",
        counted,
        f"xa -> v0 -> {room}",
    ):
        note(purpose, said)
    return purpose


@pytest.mark.parametrize(
    ("counted", "room", "size"),
    [
        ("cols = nb, e1 = na * nb", "w0 = v0: float32[4, na, nb]", None),
        ("cols = nb, e1 = nb * nc", "w0 = v0: float32[4, na, nb]", "na*nb"),
        ("cols = nb", "w0 = v0: float32[4, nb]", None),
        ("cols = nb", "w0 = v0: float32[4, 1]", None),
    ],
)
def test_a_part_of_a_room_has_a_name(counted: str, room: str, size: str | None) -> None:
    found = uncounted_part(_folding(counted, room))
    assert (found or "").replace(" ", "") == (size or "")


def test_a_size_without_a_name_is_given_one() -> None:
    thought = (
        "<think>\nop: Too few results for all cores: each core folds a part and keeps its state.\n"
        "op: cols = nc, rows = nb, e2 = nb * nc\n"
        "op: xa -> v0 -> w0 = v0: float32[2, na, nc]\n"
    )
    guide = Guide("xa: float32[na, nb, nc]\nv0 = sum.dim_IntList(xa, [1]): float32[na, nc]\n"
                  "return v0\n")  # fmt: skip
    advice = guide.line(thought)
    assert (advice.keep, advice.lines) == (False, 2)
    lines = advice.then.splitlines()
    assert lines[0] == "op: cols = nc, rows = nb, e2 = nb * nc, e1 = na * nc"
    assert lines[1] == thought.splitlines()[-1]
    again = "\n".join([*thought.splitlines()[:2], *lines]) + "\n"
    assert guide.line(again).keep
    many = ", ".join(f"e{number} = {number} * nb" for number in range(1, 12))
    taken = thought.replace("e2 = nb * nc", many)
    assert guide.line(taken).then.splitlines()[0].endswith("e12 = na * nc")
    assert Outline.read(again).kernels["op"].rooms == {"w0": ["2", "na", "nc"]}


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("w0 + i0 * cols + part * e1", None),
        ("w0 + i0 * cols + part * e2", "parts of w0 are na * nb apart"),
        ("w0 + i0 * cols", "each core has a part of w0"),
    ],
)
def test_parts_of_a_room_lie_apart_as_its_shape_says(place: str, reason: str | None) -> None:
    purpose = _folding("cols = nb, e1 = na * nb, e2 = nb * nc", "w0 = v0: float32[4, na, nb]")
    assert misplaced(f"            tl.store({place}, v0[:])", purpose) == reason
