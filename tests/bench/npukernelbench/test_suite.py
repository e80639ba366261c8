# SPDX-License-Identifier: Apache-2.0
"""The suite's own answers, others' answers and planned ones, on a checkout of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.bench.npukernelbench import tiny_suite

from npuforge.bench.attempt import Attempt
from npuforge.bench.settings import Settings
from npuforge.bench.suites import open_suite
from npuforge.errors import UsageError


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_suite.checkout(tmp_path_factory.mktemp("checkout"))


def attempts(path: Path, place: Path, names: str, **fields: Any) -> tuple[list[Attempt], Any]:
    suite = open_suite(Settings(suite="npukernelbench", path=str(path), **fields))
    tasks = {task.place.name: task for task in suite.tasks()}
    found = []
    for name in names.split():
        (place / name).mkdir()
        found.append(suite.attempt(tasks[name], 0, place / name))
    return found, {score.name: score.value for score in suite.scores(found)}


def test_reference_answers(path: Path, tmp_path: Path) -> None:
    found, scores = attempts(path, tmp_path, "Twice Loose Mix Torn", answers="reference")
    twice, loose, mix, torn = found
    assert twice.passed, twice.reason
    assert twice.scores["cases_passed"] == len(twice.verdict.cases) == 2
    assert twice.verdict.time_us is not None
    assert twice.verdict.baseline_us is not None
    assert (loose.published, loose.strict, loose.passed) == (True, False, False)
    assert "not ours" in (loose.reason or "")
    assert mix.state == "missing"
    assert torn.state == "unusable"
    assert "empty" in (torn.reason or "")
    assert scores["level 1 precision pass rate"] == 1.0  # what is unusable does not count
    assert scores["level 3 parse pass rate"] == 0.0
    assert scores["total (repository)"] == pytest.approx(0.2 + 0.3)
    assert scores["total (paper)"] == pytest.approx(20.0 + 30.0)


def test_planned(path: Path, tmp_path: Path) -> None:
    (mix,), scores = attempts(path, tmp_path, "Mix")
    assert mix.passed, mix.reason
    assert mix.scores["cases_planned"] == mix.scores["cases_passed"] == 3
    assert [case.dtypes[0] for case in mix.verdict.cases] == ["float32", "float16", "float32"]
    # Rows 0 and 2 differ in their first extent only: one program takes both.
    assert sorted(p.name for p in (tmp_path / "Mix" / "answer").iterdir()) == [
        "program0",
        "program1",
    ]
    assert mix.scores["speedup_mean"] is not None
    assert scores["total (repository)"] == pytest.approx(0.5)


def test_kernels_alone_for_one_case(path: Path, tmp_path: Path) -> None:
    """The suite's run folder: what a model said, for a fixed case, under the suite's host code."""
    answers = tmp_path / "answers"
    good = tiny_suite.kernel("twice", 2.0, 4 * 64)
    place = "msopgen/lvl1/Math/Twice/fixed_case_{}/sample0/log/x_code_gen_prompt.json"
    text = f"<kernel_impl>\n```cpp\n{good}```\n</kernel_impl>"
    tiny_suite.write(
        answers,
        {
            place.format(0): tiny_suite.said(text),
            place.format(1): tiny_suite.said("I cannot."),
        },
    )
    form = {"answers": str(answers), "interface": "kernel", "sizes": "static"}
    (twice, mix), scores = attempts(path, tmp_path, "Twice Mix", **form, cases=2)
    assert twice.state == "judged"
    assert (twice.scores["samples"], twice.scores["precise"]) == (2, 1)
    assert "no kernel" in (twice.reason or "")
    assert mix.state == "missing"
    assert scores["level 1 parse pass rate"] == 1.0
    assert scores["level 1 compile pass rate"] == 0.5
    assert scores["level 3 precision pass rate"] == 0.0


def test_whole_operators_by_name(path: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    tiny_suite.write(answers / "level1/Math/Twice", tiny_suite.project("Twice", "twice", 2.5))
    (twice,), _ = attempts(path, tmp_path, "Twice", answers=str(answers), cases=1)
    assert (twice.verdict.compiled, twice.published) == (True, False)
    assert "off by" in (twice.reason or "")


def test_an_answer_for_the_tested_sizes_alone_scores_nothing(path: Path, tmp_path: Path) -> None:
    files = tiny_suite.project("Twice", "twice", 2.0)
    host = files["op_host/twice.cpp"]
    size = "context->GetInputShape(0)->GetStorageShape().GetShapeSize()"
    assert size in host
    files["op_host/twice.cpp"] = host.replace(size, str(4 * 64))
    tiny_suite.write(tmp_path / "answers/Twice", files)
    (twice,), scores = attempts(path, tmp_path, "Twice", answers=str(tmp_path / "answers"), cases=1)
    assert (twice.published, twice.strict, twice.passed) == (True, True, False)
    assert {found.kind for found in twice.cheats} >= {"tested-shapes-only"}
    assert "[4, 128]" in (twice.reason or "")
    assert scores["level 1 precision pass rate"] == 0.0


def test_what_does_not_go_together(path: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no tasks"):
        open_suite(Settings(suite="npukernelbench", path=str(tmp_path)))
    with pytest.raises(UsageError, match="--interface"):
        open_suite(Settings(suite="npukernelbench", path=str(path), interface="kernel"))
