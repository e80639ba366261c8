# SPDX-License-Identifier: Apache-2.0
"""Parts of rows: where they are read, and which value each is."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.generate.lm.taught import advised, written

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, Purpose
from npuforge.generate.lm.guide.guide import Guide
from npuforge.generate.lm.guide.rules.parted import block, pointers
from npuforge.generate.lm.guide.rules.stated import instruction
from npuforge.train.dataset.reasoning import outlined, schedules

_ASKED = (
    "xa: float16[na, nb]\nxb: float16[na, nc]\nwhere na=8, nb=64, nc=32\n"
    "v0 = split_with_sizes(xa, [nc, nb - nc], -1): float16[na, nc] float16[na, nb - nc]\n"
    "v1 = getitem(v0, 0): float16[na, nc]\nv2 = getitem(v0, 1): float16[na, nb - nc]\n"
    "v3 = mul.Tensor(v1, xb): float16[na, nc]\nv4 = sub.Tensor(v3, v2): float16[na, nc]\n"
    "return v4\n"
)
_PURPOSE = Purpose(
    f"{ROWS}, several at once",
    {"rows": "na", "cols": "nc"},
    ["xa", "xb"],
    ["v0", "v1", "v2", "v3", "v4"],
    {"y": None},
)
_READ = """\
            in0 = tl.alloc_ub((tile, cols), dtype=tl.float16)
            tl.load(xa + start * nb, in0[:n, :], stride=nb)
            in1 = tl.alloc_ub((tile, cols), dtype=tl.float16)
            tl.load(xa + cols + start * nb, in1[:n, :], stride=nb)
            # xb: float16[na, nc]
            xb_in = tl.alloc_ub((tile, cols), dtype=tl.float16)
            tl.load(xb + start * cols, xb_in[:n, :], stride=cols)
"""


def test_each_part_is_read_where_it_begins() -> None:
    given = block("        with tl.copyin():", _PURPOSE, Meaning.read(_ASKED))
    assert given == f"{_READ}        with tl.compute():\n"
    assert block("    with tl.copyin():", _PURPOSE, Meaning.read(_ASKED)) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [("-1)", "0)"), ("split_with_sizes(xa", "sort(xa"), ("[nc, nb - nc]", "[nb - nc, nc]")],
)
def test_what_has_no_name_or_is_no_part_of_rows_is_not_given(old: str, new: str) -> None:
    assert (
        block("        with tl.copyin():", _PURPOSE, Meaning.read(_ASKED.replace(old, new))) == ""
    )


def test_a_part_is_known_by_its_value() -> None:
    meaning = Meaning.read(_ASKED)
    parts = pointers(_PURPOSE, meaning)
    assert parts == {"xa + start * nb": "v1", "xa + cols + start * nb": "v2"}
    program = f"def op():\n{_READ}            tl.mul(v3[:n, :], {{}}[:n, :], xb_in[:n, :])\n"
    assert meaning.of(program.format("in0"), parts) is None
    assert meaning.of(program.format("in1"), parts) == "v3 is not made of v2"


_HALVES = (
    "xa: float32[na, nb]\nxb: float32[na, 2 * nb]\nwhere na=8, nb=64\n"
    "v0 = split_with_sizes(xb, [nb, nb], -1): float32[na, nb] float32[na, nb]\n"
    "v1 = getitem(v0, 1): float32[na, nb]\nv2 = mul.Tensor(xa, v1): float32[na, nb]\n"
    "v3 = exp(v2): float32[na, nb]\nreturn v3\n"
)
_WAY = f"op: {ROWS}, several at once; what a row shares is computed once a row.\n"


def test_a_size_that_parts_need_gets_a_name() -> None:
    line = "op: xa, xb -> v0, v1, v2, v3 -> y\n"
    counts = "op: rows = na, cols = nb"
    advice = Guide(_HALVES).line(f"<think>\n{_WAY}{counts}\n{line}")
    assert (advice.keep, advice.lines) == (False, 2)
    assert advice.then == f"{counts}, e1 = 2 * nb\n{line}"
    assert Guide(_HALVES).line(f"<think>\n{_WAY}{advice.then}").keep


def test_an_instruction_reads_the_buffer_of_a_part() -> None:
    meaning = Meaning.read(_HALVES)
    counts = {"rows": "na", "cols": "nb", "e1": "2 * nb"}
    own = replace(_PURPOSE, parameters=counts, computes=["v0", "v1", "v2", "v3"])
    given = block("        with tl.copyin():", own, meaning)
    allocated = "v2 = tl.alloc_ub((tile, cols), dtype=tl.float32)"
    body = f"():\n{given}            # {meaning.lines['v2']}\n            {allocated}\n"
    wanted = "            tl.mul(v2[:n, :], xa_in[:n, :], xb_in[:n, :])"
    assert instruction(f"{body}            tl.mul(\n", own, meaning) == wanted
    # The buffer has a tensor's name, and holds a part of it alone.
    parts = pointers(own, meaning)
    assert meaning.of(f"def op{body}{wanted}\n", parts) is None


class _Gated(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, value = x.chunk(2, dim=-1)
        return torch.sigmoid(gate) * value


class _Modulated(torch.nn.Module):
    """Something that all rows of an outer index share."""

    def forward(self, x: torch.Tensor, scale: torch.Tensor, by_row: torch.Tensor) -> torch.Tensor:
        return x * scale[:, None] + by_row[..., None]


_SEVERAL = {
    "gated": (_Gated(), [torch.randn(40, 256)]),
    "modulated": (_Modulated(), [torch.randn(4, 60, 96), torch.randn(4, 96), torch.randn(4, 60)]),
}


@pytest.mark.parametrize("name", list(_SEVERAL))
def test_what_the_planner_writes_is_kept_and_given(name: str) -> None:
    module, inputs = _SEVERAL[name]
    one = written(module, *inputs)
    outline = outlined(one.taught, schedules(one.planned))
    thought = "".join(f"{line}\n" for line in ["<think>", *outline, "4.0 KB in, 1 KB out"])
    given = ""
    for before, after, advice in advised(Guide(one.asked), f"{thought}</think>\n", one.taught):
        assert advice.keep, (before[-300:], advice.reason)
        assert after.replace(", buffers=1", "").startswith(advice.then.replace(", buffers=1", ""))
        given += advice.then
    assert "tl.load(" in given
