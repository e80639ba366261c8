# SPDX-License-Identifier: Apache-2.0
"""Evaluation: what is asked, how answers are counted, and the judge of rewards."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.bench.npukernelbench import tiny_suite
from tests.generate.lm.written import program_for

from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.generate.lm.prompt.canonical import canonical
from npuforge.train.evaluate.answers import Answers
from npuforge.train.evaluate.problems import Problem, problems
from npuforge.train.evaluate.prompts import prompts
from npuforge.train.evaluate.score import Scored, at_k, by_level, gain, score
from npuforge.train.evaluate.structures import evaluated
from npuforge.train.judge import TwinJudge

_NAME = "activation/squared_relu"


@pytest.fixture(scope="module")
def problem() -> Problem:
    return next(problem for problem in problems("forge") if problem.name == _NAME)


@pytest.fixture(scope="module")
def right(problem: Problem) -> str:
    with problem.opened() as module:
        graph, _ = canonical(module.graph)
    return program_for(graph)


def test_a_prompt_has_the_graph_and_its_structure(problem: Problem) -> None:
    (asked,) = prompts([problem])
    assert not asked.problem
    assert asked.structure in evaluated()
    assert asked.prompt[-1].content.startswith("xa: ")
    assert "return v" in asked.prompt[-1].content


def test_an_element_type_that_kernels_lack_is_a_problem(tmp_path: Path) -> None:
    path = tiny_suite.checkout(tmp_path)
    (twice,) = (one for one in problems("npukernelbench", path) if one.task.place.name == "Twice")
    table = twice.task.place / "validation" / "test_cases.csv"
    table.write_text("case_id;shape;dtype\n0;[8, 64];float64\n")
    (asked,) = prompts([twice])
    assert "float64" in asked.problem


def test_a_table_is_asked_by_its_largest_case_that_can_be_made(tmp_path: Path) -> None:
    path = tiny_suite.checkout(tmp_path)
    (twice,) = (one for one in problems("npukernelbench", path) if one.task.place.name == "Twice")
    table = twice.task.place / "validation" / "test_cases.csv"
    with table.open("a") as file:
        file.write("2;[8, 64];float7\n")
    with twice.opened() as module:
        assert module.graph.sources[0].type.shape == (4, 64)
    table.write_text("case_id;shape;dtype\n0;[8, 64];float7\n")
    with pytest.raises(UsageError, match="float7"), twice.opened():
        pass


def test_answers_are_counted_by_how_far_they_come(problem: Problem, right: str) -> None:
    thought = f"<think>\nabout it\n</think>\n{right}"
    wrong = right.replace("tl.mul(", "tl.add(", 1)
    texts = [thought, right, wrong, right.replace("tl.load(", "tl.fetch("), "no program"]
    answers = Answers(suite="forge", name=_NAME, level=1, answers=texts, tokens=0, cut=0)
    other = Answers(suite="forge", name=_NAME, level=1, answers=[wrong], tokens=0, cut=0)
    given = {"one": answers, "other": other}
    found, less = score(problem, given)
    assert (less.by, less.samples, less.compiled, less.correct) == ("other", 1, 1, 0)
    assert (found.samples, found.parsed, found.compiled, found.correct) == (5, 3, 3, 2)
    assert found.distinct == 4
    assert any("differ" in said for said in found.problems)


def test_rates_at_k_are_means_over_tasks() -> None:
    scored = [
        Scored(by="m", suite="s", name="a", level=1, samples=10, compiled=10, correct=1),
        Scored(by="m", suite="s", name="b", level=2, samples=10, compiled=0, correct=0),
    ]
    assert at_k(scored, 1, "compiled").value == pytest.approx(0.5)
    assert at_k(scored, 1, "correct").value == pytest.approx(0.05)
    assert at_k(scored, 10, "correct").value == pytest.approx(0.5)
    assert list(by_level(scored)) == [1, 2]


def test_a_gain_is_taken_task_by_task() -> None:
    counts = {"a": (0, 5), "b": (10, 10), "c": (3, 8)}
    before, after = (
        [
            Scored(by="m", suite="s", name=name, level=1, samples=10, correct=pair[place])
            for name, pair in counts.items()
        ]
        for place in (0, 1)
    )
    alone = Scored(by="m", suite="s", name="d", level=1, samples=10, correct=10)
    found = gain(before, [*after, alone], 1, "correct")
    assert found.value == pytest.approx((0.5 + 0 + 0.5) / 3)
    assert gain(before, before, 1, "correct").high == 0
    assert gain([alone], after, 1, "correct").value is None


def test_a_suite_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="no evaluation on"):
        problems("elsewhere")


def test_the_judge_of_rewards_tells_right_from_wrong(problem: Problem, right: str) -> None:
    task = {"module": problem.task.place.read_text("utf-8"), "best_us": 10.0}
    with TwinJudge() as judge:
        found = judge.judge(task, right)
        worse = judge.judge(task, right.replace("tl.mul(", "tl.add(", 1))
        nothing = judge.judge(task, "nothing")
    assert found.correct
    assert found.time_us is not None
    assert found.baseline_us == 10.0
    assert worse.compiled
    assert not worse.correct
    assert not nothing.parsed


def _said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main(["evaluate", *words])
    return status, capsys.readouterr().err


def test_bad_input_is_one_line_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, broken = tmp_path / "out.jsonl", tmp_path / "broken.jsonl"
    broken.write_text('{"suite": 3}\n', "utf-8")
    prompt = '{"suite": "forge", "name": "a", "level": 1}\n'
    (tmp_path / "asked.jsonl").write_text(prompt, "utf-8")
    for words, reason in (
        (("score", "forge", str(tmp_path / "none"), "--out", str(out)), "cannot read"),
        (("score", "forge", str(broken), "--out", str(out)), "broken.jsonl:1: not a sampled"),
        (("score", "forge", str(broken), "--out", str(out), "--levels", "x"), "whole numbers"),
        (("sample", "none", str(broken), "--out", str(out)), "broken.jsonl:1: not a prompt"),
        (("sample", "none", str(tmp_path / "asked.jsonl"), "--out", str(out)), "no model none"),
        (("sample", "none", str(broken), "--out", str(broken)), "broken.jsonl:1: not a sampled"),
        (("prompts", "elsewhere", "--out", str(out)), "no evaluation on"),
        (("prompts", "forge", "--out", str(broken)), "cannot write"),
    ):
        status, said = _said(capsys, *words)
        assert status != 0
        assert reason in said
        assert len(said.strip().splitlines()) == 1
        assert not out.exists()


def test_answers_are_scored_in_processes_and_resumed(
    right: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = Answers(suite="forge", name=_NAME, level=1, answers=[right, "none"], tokens=0, cut=0)
    better = msgspec.structs.replace(answers, answers=[right])
    files = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    for file, own in zip(files, (answers, better), strict=True):
        file.write_bytes(msgspec.json.encode(own))
    command = ["evaluate", "score", "forge", "--jobs", "1", "--out", str(tmp_path / "scored.jsonl")]
    for given in (files[:1], files, files):
        assert main([*command, *map(str, given)]) == 0
        said = capsys.readouterr().out
        assert " 50.0 " in said
    assert "ER, gained on first" in said
    assert said.splitlines()[-1].split() == ["second", "all", "1", "1", "100.0", "100.0", "50.0"]
    lines = (tmp_path / "scored.jsonl").read_bytes().splitlines()
    found = [msgspec.json.decode(line, type=Scored) for line in lines]
    assert [(one.by, one.samples, one.correct) for one in found] == [
        ("first", 2, 1),
        ("second", 1, 1),
    ]
