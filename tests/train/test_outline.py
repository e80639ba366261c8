# SPDX-License-Identifier: Apache-2.0
"""What the reasoning says of kernels before the program is written."""

from __future__ import annotations

import pytest
import torch
from tests.generate.lm.taught import Loss, Norm, Scale, written

from npuforge.generate.lm.form.answer import program_in
from npuforge.train.dataset.grow import grow
from npuforge.train.dataset.outline import outline
from npuforge.train.dataset.reasoning import outlined
from npuforge.train.dataset.record import Chat

_SEED = 41
_GROWN = (0, 4, 5)  # lists, rows and images: an operator takes seconds


class _Joined(torch.nn.Module):
    """Its second kernel is one that many operators share."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.cat([torch.exp(x), w], -1)


class _Folded(torch.nn.Module):
    """Columns are folded in pieces, the pieces by a second kernel."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * (x * x).mean(0, keepdim=True)


def test_elements_are_counted_in_extents() -> None:
    taught = written(Scale(), torch.rand(64, 32)).taught
    assert outline(taught) == {"op": ["cols = na * nb", "xa -> v0, v1 -> y"]}


def test_rows_of_a_reduction() -> None:
    taught = written(Norm(), torch.rand(8, 64, 96), torch.rand(96)).taught
    assert outline(taught) == {
        "op": [
            "cols = nc, rows = na * nb",
            "xb, xa -> v0, v1, v2, v3, v4, v5, v6, v7 -> y",
        ]
    }


def test_what_one_kernel_leaves_for_another_has_a_shape() -> None:
    taught = written(Loss(), torch.rand(300, 400), torch.rand(300, 400)).taught
    assert outline(taught) == {
        "op": [
            "cols = na * nb",
            "xa, xb -> v0, v1, v2, v3, v4, v6, v5, v7 -> w0: float32[41]",
        ],
        "op_2": ["e0 = na * nb", "w0 -> v8 -> y"],
    }


def test_a_shape_is_said_where_it_is_stored_and_nowhere_else() -> None:
    assert outline(written(_Folded(), torch.rand(512, 64)).taught) == {
        "op": ["cols = nb, rows = na", "xa -> v0 -> w0: float32[41, 1, nb]"],
        "op_2": ["cols = nb", "w0 -> v1 -> w1: float32[1, nb]"],
        "op_3": ["cols = nb, rows = na", "w1, xa -> v2 -> y"],
    }


def test_shared_kernels_say_which_tensors_they_take() -> None:
    taught = written(_Joined(), torch.rand(64, 32), torch.rand(64, 48)).taught
    assert outline(taught) == {
        "op": ["cols = na * nb", "xa -> v0 -> w0 = v0: float32[na, nb]"],
        "op_2_kernel": [
            "begin = 0, total = nb + nc, x0 = w0, offset0 = 0, pitch0 = nb, y = y, "
            "x1 = xb, offset1 = 0, pitch1 = nc"
        ],
    }


def test_every_launch_has_its_parameters() -> None:
    taught = written(Scale(), torch.rand(64, 32)).taught
    launch = taught.splitlines()[-1]
    again = f"{taught}{launch.replace('na * nb', 'nb')}\n"
    assert outline(again)["op"] == ["cols = na * nb", "xa -> v0, v1 -> y", "cols = nb"]


@pytest.mark.parametrize("lost", ["    # def op(", "    op[", "    na = ", "def op_host("])
def test_what_is_not_understood_is_not_said(lost: str) -> None:
    taught = written(Scale(), torch.rand(64, 32)).taught
    kept = "".join(line for line in taught.splitlines(True) if not line.startswith(lost))
    assert kept != taught
    assert len(outline(kept).get("op", [])) < 2


def test_kernels_come_one_after_the_other() -> None:
    taught = written(Loss(), torch.rand(300, 400), torch.rand(300, 400)).taught
    lines = list(outlined(taught, {"op": "A stream.", "op_2": "A line."}))
    assert [line.partition(": ")[0] for line in lines] == ["op"] * 3 + ["op_2"] * 3
    assert [lines[0], lines[3]] == ["op: A stream.", "op_2: A line."]


def test_grown_operators_are_outlined_first() -> None:
    for index in _GROWN:
        grown = grow(_SEED, index, lessons=0.0)
        for record in grown.records:
            if isinstance(record, Chat) and record.source == "kernel":
                answer = record.messages[-1].content
                lines = answer.partition("\n</think>")[0].split("\n")[1:]
                said = outline(program_in(answer))
                assert all(said.values())
                first = next(place for place, line in enumerate(lines) if " in, " in line)
                told = [f"{name}: {line}" for name in said for line in said[name]]
                assert [line for line in lines[:first] if line in told] == told
                assert not set(lines[first:]) & set(told)
