# SPDX-License-Identifier: Apache-2.0
"""Counting what operations are done with."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.generate.lm.taught import written

from npuforge.cli import main
from npuforge.generate.lm.guide.facts.meaning import Known
from npuforge.train.dataset.operations import joined, operations
from npuforge.train.records import Chat, Message


class _Gate(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(x) / (x.mean(-1, keepdim=True) + 2.5)


def test_instructions_and_numbers_are_counted() -> None:
    one = written(_Gate(), torch.randn(40, 96))
    messages = [Message("user", one.asked), Message("assistant", one.answer)]
    known = operations([Chat(messages=messages)] * 10)
    assert known["sigmoid"].instructions == [["sigmoid"]]
    assert known["mean.dim"].instructions == [["reduce_sum", "div"]]
    assert known["add.Tensor"].numbers == []  # 2.5 is in its line
    assert operations([Chat(messages=messages)] * 9) == {}


class _Linear(torch.nn.Module):
    def __init__(self, slope: float, power: float) -> None:
        super().__init__()
        self.slope, self.power = slope, power

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.slope * x).abs() ** self.power


def test_numbers_that_an_operation_is_given_are_in_its_instructions_or_not() -> None:
    programs = [written(_Linear(1.5 + n / 8, n % 2 + 2), torch.randn(8, 40)) for n in range(10)]
    chats = [
        Chat(messages=[Message("user", one.asked), Message("assistant", one.answer)])
        for one in programs
    ]
    known = operations(chats)
    assert known["mul.Tensor"].says is True
    assert known["pow.Tensor_Scalar"].says is None  # two numbers are too few to tell
    assert operations(chats[:1] * 10)["mul.Tensor"].says is None
    yes, no, unknown = (Known([], [], says) for says in (True, False, None))
    for one, two, both in ((yes, no, False), (unknown, yes, True), (unknown, unknown, None)):
        assert joined({"mul": one}, {"mul": two})["mul"].says is both


def test_what_is_known_already_is_added() -> None:
    before = {"exp": Known([["exp"]], [1.0]), "erf": Known([["erf"]], None), "abs": Known([], [])}
    after = {"exp": Known([["exp"], ["exp", "select"]], [0.5]), "erf": Known([["erf"]], [2.0])}
    for one, two in ((before, after), (after, before)):
        assert joined(one, two) == {
            "abs": Known([], []),
            "erf": Known([["erf"]], None),
            "exp": Known([["exp"], ["exp", "select"]], [0.5, 1.0]),
        }


def test_files_that_cannot_be_read_leave_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "operations.json"
    missing = tmp_path / "kernel.jsonl"
    assert main(["dataset", "operations", str(missing), "--out", str(out)]) == 2
    assert "cannot read" in capsys.readouterr().err
    assert not out.exists()
