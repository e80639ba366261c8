# SPDX-License-Identifier: Apache-2.0
"""Preferences from answers to a dataset's tasks."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.generate.lm.written import program_for

from npuforge.cli import main
from npuforge.generate.live import LiveModule
from npuforge.generate.lm.prompt.canonical import OPERATOR, canonical, conversation
from npuforge.train.dataset.prefer import Asked, pairs
from npuforge.train.dataset.record import GrownTask, JudgedBy, Origin, Preference
from npuforge.train.evaluate.answers import Answers
from npuforge.train.evaluate.prompts import read_prompts
from npuforge.train.records import as_messages

_MODULE = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, floor):
        return torch.maximum(x * 0.75, floor)


def get_inputs():
    return [torch.randn(33, 70), torch.randn(33, 70)]


def get_init_inputs():
    return []
"""
_ORIGIN = Origin(seed=7, index=11)


@pytest.fixture(scope="module")
def known() -> tuple[GrownTask, str]:
    """A task, and a right answer to it."""
    with LiveModule.of_text(_MODULE, OPERATOR) as live:
        graph, _ = canonical(live.graph)
    program = program_for(graph)
    prompt = as_messages(conversation(graph))
    return GrownTask(prompt=prompt, task=JudgedBy(_MODULE, None), origin=_ORIGIN), program


def _kinds(found: list[Preference]) -> list[str]:
    return sorted(pair.why for pair in found)


def test_right_is_preferred_to_wrong_and_to_refused(known: tuple[GrownTask, str]) -> None:
    task, right = known
    wrong = right.replace("tl.mul(", "tl.add(", 1)
    refused = right.replace("tl.maximum(", "tl.largest(", 1)
    found = pairs(Asked(task, [wrong, right, right, refused, "no program"]))
    assert _kinds(found) == ["refused", "wrong"]
    for pair in found:
        assert pair.chosen[0].content == right
        assert pair.prompt == task.prompt
    assert {pair.rejected[0].content for pair in found} == {wrong, refused}


def test_what_is_known_stands_for_a_right_answer(known: tuple[GrownTask, str]) -> None:
    task, right = known
    wrong = right.replace("tl.mul(", "tl.add(", 1)
    assert pairs(Asked(task, [wrong])) == []
    (pair,) = pairs(Asked(task, [wrong], right))
    assert (pair.why, pair.chosen[0].content) == ("wrong", right)


def test_the_command_writes_pairs_and_never_over_others(
    known: tuple[GrownTask, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task, right = known
    (tmp_path / "tasks.jsonl").write_bytes(msgspec.json.encode(task) + b"\n")
    (asked,) = read_prompts([tmp_path / "tasks.jsonl"])
    assert asked.name == task.task.name
    given = [right, right.replace("tl.mul(", "tl.sub(", 1)]
    answers = Answers(suite="tasks", name=asked.name, level=None, answers=given, tokens=1, cut=0)
    (tmp_path / "answers.jsonl").write_bytes(msgspec.json.encode(answers) + b"\n")
    words = [str(tmp_path / name) for name in ("tasks.jsonl", "answers.jsonl")]
    command = ["dataset", "prefer", *words, "--out", str(tmp_path / "pairs.jsonl"), "--jobs", "1"]
    assert main(command) == 0
    assert "1 pairs of 1 tasks (1 wrong)" in capsys.readouterr().out
    (line,) = (tmp_path / "pairs.jsonl").read_bytes().splitlines()
    assert msgspec.json.decode(line, type=Preference).why == "wrong"
    assert main(command) != 0
    assert "cannot write" in capsys.readouterr().err
    (tmp_path / "answers.jsonl").write_bytes(b"")
    assert main([*command[:-3], str(tmp_path / "none.jsonl")]) != 0
    assert "no answers to tasks" in capsys.readouterr().err
    assert not (tmp_path / "none.jsonl").exists()
