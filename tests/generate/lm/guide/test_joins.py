# SPDX-License-Identifier: Apache-2.0
"""A question that ends with a join: a kernel for each part, in order, and one that joins them."""

from __future__ import annotations

import pytest
import torch
from tests.generate.lm.taught import advised, written

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.guide import Guide
from npuforge.generate.lm.guide.joins import counting, join_of
from npuforge.train.dataset.reasoning import outlined, schedules

_ASKED = (
    "xa: float32[na, nb, nc]\nxb: float32[na, nd]\nwhere na=2, nb=8, nc=32, nd=5\n"
    "v0 = exp(xa): float32[na, nb, nc]\nv1 = sum.dim_IntList(v0, [-1]): float32[na, nb]\n"
    "v2 = sqrt(v1): float32[na, nb]\n"
    "v3 = cat([v1, xb, v2], 1): float32[na, 2 * nb + nd]\nreturn v3\n"
)
_WAY = "Whole rows, several at once; what a row shares is computed once a row."
_COUNTS = "rows = na * nb, cols = nc"
_FIRST = "op: xa -> v0, v1 -> w0 = v1: float32[na, nb]"
_SECOND = "op_2: xa -> v0, v1, v2 -> w1 = v2: float32[na, nb]"
_JOINED = (
    "op_3_kernel: begin = 0, total = 2 * nb + nd, x0 = w0, offset0 = 0, pitch0 = nb, y = y, "
    "x1 = xb, offset1 = 0, pitch1 = nd, x2 = w1, offset2 = 0, pitch2 = nb"
)
_OUTLINE = [f"op: {_WAY}", f"op: {_COUNTS}", _FIRST, f"op_2: {_WAY}", f"op_2: {_COUNTS}", _SECOND]


def _said(*lines: str) -> str:
    return "".join(f"{line}\n" for line in ("<think>", *lines))


def test_what_follows_from_the_question_is_kept() -> None:
    guide = Guide(_ASKED)
    lines = [*_OUTLINE, _JOINED]
    for upto in range(1, len(lines) + 1):
        advice = guide.line(_said(*lines[:upto]))
        assert advice.keep, (lines[upto - 1], advice.reason)


@pytest.mark.parametrize(
    ("before", "line", "right"),
    [
        (2, "op: xa -> v0 -> w0: float32[na, nb]", _FIRST),
        (2, "op: xa -> v0, v1 -> w0: float32[na, nb]", _FIRST),  # which of the two is not said
        (2, "op: xa -> v0, v1, v2 -> w0 = v2: float32[na, nb]", _FIRST),
        (5, "op_2: xa -> v0, v1 -> w1 = v1: float32[na, nb]", _SECOND),
        (3, _JOINED.replace("op_3", "op_2"), f"op_2: {_WAY}"),
        (6, f"op_3: {_WAY}", _JOINED),
        (6, _JOINED.replace("x2 = w1", "x2 = w0"), _JOINED),
        (6, _JOINED.replace("total = 2 * nb + nd", "total = nb"), _JOINED),
    ],
)
def test_anything_else_is_not_written(before: int, line: str, right: str) -> None:
    advice = Guide(_ASKED).line(_said(*_OUTLINE[:before], line))
    assert not advice.keep
    assert advice.then == f"{right}\n"


def test_what_the_host_counts() -> None:
    meaning = Meaning.read(_ASKED)
    for line, right in (
        ("op_3_outer = na * nb", "op_3_outer = na"),
        ("op_3_run1 = nb", "op_3_run1 = nd"),
        ("op_3_run2 = nd", "op_3_run2 = nb"),
    ):
        assert counting(f"    {line}", meaning) == f"    {right}"
        assert counting(f"    {right}", meaning) is None
    assert counting("    op_3_run3 = nd", meaning) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("v3 = cat([v1, xb, v2], 1)", "v3 = add.Tensor(v1, v2)"),
        ("[v1, xb, v2]", "[v1, xb, v1]"),  # one room for two parts
        ("v2 = sqrt(v1)", "v2 = slice.Tensor(v1, 1, 0, 9)"),  # what the room has is not said
        ("v2 = sqrt(v1)", "v2 = slice.Tensor(xb, 1, 0, 9)"),
        ("return v3", "v4 = exp(v3): float32[na, 2 * nb + nd]\nreturn v4"),
    ],
)
def test_other_questions_are_left_alone(old: str, new: str) -> None:
    assert join_of(Meaning.read(_ASKED)) is not None
    assert join_of(Meaning.read(_ASKED.replace(old, new))) is None


def test_a_room_that_nobody_left_is_not_read() -> None:
    asked = _ASKED.replace("return v3", "v4 = exp(v3): float32[na, 2 * nb + nd]\nreturn v4")
    said = _JOINED.replace("y = y", "y = w2: float32[na, 2 * nb + nd]")
    assert Guide(asked).line(_said(*_OUTLINE, said)).keep
    advice = Guide(asked).line(_said(*_OUTLINE[:3], said))
    assert (advice.keep, advice.reason) == (False, "nothing leaves w1")


class _Statistics(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([torch.exp(x) * 2, torch.sigmoid(x) + 1], 1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_what_the_planner_writes_is_kept(dtype: torch.dtype) -> None:
    one = written(_Statistics(), torch.randn(40, 256).to(dtype))
    outline = list(outlined(one.taught, schedules(one.planned)))
    assert sum("_kernel: " in line for line in outline) == 1
    guide = Guide(one.asked)
    for upto in range(1, len(outline) + 1):
        assert guide.line(_said(*outline[:upto])).keep, outline[upto - 1]
    thought = _said(*outline, "4.0 KB in, 1 KB out")
    for before, _, advice in advised(guide, f"{thought}</think>\n", one.taught):
        assert advice.keep, (before[-300:], advice.reason)
