# SPDX-License-Identifier: Apache-2.0
"""`npuforge compare`: two runs from folders or JSON, and what changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tests.bench.report.runs import EVIL, bad, ended, good, task

from npuforge.bench.attempt import Attempt
from npuforge.bench.document import document
from npuforge.bench.report.run import read
from npuforge.bench.settings import Settings
from npuforge.bench.store import Store
from npuforge.cli import main

NAMES = ["a/fixed", "a/broken", "a/faster", "a/slower", "a/same", "a/nearly"]
TASKS = [task(name) for name in NAMES]


def at(time_us: float, name: str) -> Attempt:
    attempt = good(name)
    return replace(attempt, verdict=replace(attempt.verdict, time_us=time_us))


BEFORE = [bad("a/fixed", reason="off by 1"), *(at(100.0, name) for name in NAMES[1:])]
AFTER = [
    good("a/fixed"),
    ended("a/broken", "crashed", EVIL),
    at(50.0, "a/faster"),
    at(120.0, "a/slower"),
    at(100.0, "a/same"),
    at(101.5, "a/nearly"),
]


def store(folder: Path, attempts: Sequence[Attempt], settings: Settings) -> Path:
    tasks = [item for item in TASKS if item.name in {attempt.task for attempt in attempts}]
    with Store.create(folder, settings, tasks) as made:
        for attempt in attempts:
            made.add(attempt)
    return folder


def compared(a: Path, b: Path, tmp_path: Path, *options: str) -> dict[str, object]:
    out = tmp_path / "compared.json"
    assert main(["compare", str(a), str(b), "--json", str(out), *options]) == 0
    found: dict[str, object] = json.loads(out.read_text())
    return found


def kinds(found: dict[str, object]) -> dict[str, str]:
    changes = found["changes"]
    assert isinstance(changes, list)
    return {change["task"]: change["kind"] for change in changes}


def test_what_changed_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(suite="forge")
    a = store(tmp_path / "before", BEFORE, settings)
    b = store(tmp_path / "after", AFTER, replace_settings(settings, strategy="other"))
    page = tmp_path / "page.html"
    found = compared(a, b, tmp_path, "--html", str(page))
    assert kinds(found) == {
        "a/fixed": "fixed", "a/broken": "broken", "a/faster": "faster", "a/slower": "slower",
    }  # fmt: skip
    assert found["settings"] == {"strategy": ["planner", "other"]}
    assert found["passed"] == pytest.approx(
        {"value": 0.0, "low": -0.4244, "high": 0.4244}, abs=1e-3
    )
    time = found["time"]
    assert isinstance(time, dict)
    assert time["value"] == pytest.approx((0.5 * 1.2 * 1.0 * 1.015) ** (1 / 4))
    assert time["low"] < time["value"] < time["high"]
    printed = capsys.readouterr().out
    assert "a/broken" in printed
    assert "strategy: planner then other" in printed
    assert "\x1b" not in printed
    text = page.read_text("utf-8")
    assert "a/slower" in text
    assert "<script>" not in text
    assert "<img" not in text


def replace_settings(settings: Settings, **changes: str) -> Settings:
    return msgspec.structs.replace(settings, **changes)


def test_json_is_read_as_the_folder_is(tmp_path: Path) -> None:
    settings = Settings(suite="forge", samples=1)
    a = store(tmp_path / "before", BEFORE, settings)
    written = tmp_path / "before.json"
    written.write_bytes(msgspec.json.encode(document(settings, TASKS, BEFORE, [])))
    assert read(written).attempts == read(a).attempts
    assert [item.name for item in read(written).tasks] == NAMES
    found = compared(a, written, tmp_path)
    assert found["changes"] == []
    assert found["settings"] == {}
    assert found["common"] == 6


def test_other_shapes_are_other_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = store(tmp_path / "a", BEFORE, Settings(suite="forge"))
    b = store(tmp_path / "b", AFTER, Settings(suite="forge", shapes="v0"))
    found = compared(a, b, tmp_path)
    assert kinds(found) == {"a/fixed": "fixed", "a/broken": "broken"}
    assert found["time"] == {"value": None, "low": None, "high": None}
    assert "times are not compared: other shapes" in capsys.readouterr().out


def test_tasks_of_one_run_are_named_and_not_counted(tmp_path: Path) -> None:
    a = store(tmp_path / "a", BEFORE, Settings(suite="forge"))
    b = store(tmp_path / "b", AFTER[:2], Settings(suite="forge"))
    found = compared(a, b, tmp_path)
    assert found["common"] == 2
    assert found["only_a"] == NAMES[2:]
    assert found["only_b"] == []


def test_the_threshold_is_the_users(tmp_path: Path) -> None:
    a = store(tmp_path / "a", BEFORE, Settings(suite="forge"))
    b = store(tmp_path / "b", AFTER, Settings(suite="forge"))
    assert "a/nearly" in kinds(compared(a, b, tmp_path, "--threshold", "0.01"))
    assert "a/slower" not in kinds(compared(a, b, tmp_path, "--threshold", "0.3"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"settings": {"suite": 3}, "tasks": []}'])
def test_what_is_no_run_gets_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = store(tmp_path / "a", BEFORE, Settings(suite="forge"))
    wrong = tmp_path / "wrong.json"
    wrong.write_text(text)
    for other in (wrong, tmp_path / "nowhere", tmp_path):
        assert main(["compare", str(a), str(other)]) == 2
        error = capsys.readouterr().err
        assert error.startswith("npuforge: ")
        assert error.count("\n") == 1
