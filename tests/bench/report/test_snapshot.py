# SPDX-License-Identifier: Apache-2.0
"""Snapshots: written, read back, and compared with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.bench.report.runs import bad, ended, good, task

from npuforge.bench.attempt import Attempt, Cheat
from npuforge.bench.report import snapshot
from npuforge.bench.report.run import read
from npuforge.bench.report.words import result
from npuforge.bench.settings import Settings
from npuforge.cli import main
from npuforge.fileformat import BENCH_SNAPSHOT
from npuforge.verdict import Race, Side, Violation

_SIDE = Side("kernel.cpp", 3, "V")


def _with(attempt: Attempt, **changes: object) -> Attempt:
    return replace(attempt, verdict=replace(attempt.verdict, **changes))  # type: ignore[arg-type]


ATTEMPTS = [
    good("b/passed"),
    good("b/passed", 1),
    _with(good("a/timed"), time_us=8.123456789),
    bad("a/wrong", reason="off by 1 in /home/me/suite/task.py"),
    _with(good("a/race"), races=[Race("SYNC-01", _SIDE, _SIDE, "message")]),
    _with(good("a/rule"), violations=[Violation("ALN-01", "error", "kernel.cpp", 3, "message")]),
    _with(bad("a/error"), error="stopped for wall time"),
    good("a/cheat", cheats=[Cheat("fallback", "calls torch")]),
    ended("c/unplanned", "unplanned"),
]
TASKS = [task(name) for name in dict.fromkeys(attempt.task for attempt in ATTEMPTS)]
SETTINGS = Settings(suite="forge", path="/home/me/suite")


def test_what_was_kept_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_text(snapshot.render(SETTINGS, TASKS, ATTEMPTS, "abc"), "utf-8")
    after = read(file)
    before = sorted(ATTEMPTS, key=lambda attempt: (attempt.task, attempt.sample))
    assert [attempt.task for attempt in after.attempts] == [attempt.task for attempt in before]
    assert list(map(result, after.attempts)) == list(map(result, before))
    assert [one.passed for one in after.attempts] == [one.passed for one in before]
    assert after.attempts[-5].verdict.time_us == 8.12346
    rows = json.loads(file.read_text())["tasks"]
    assert [row["passed"] for row in rows] == [one.passed for one in before]


def test_the_text_is_for_git() -> None:
    text = snapshot.render(SETTINGS, TASKS, ATTEMPTS, None)
    assert text == snapshot.render(SETTINGS, TASKS, list(reversed(ATTEMPTS)), None)
    assert "/home/me" not in text
    lines = [line for line in text.splitlines() if '"task":' in line]
    assert len(lines) == len(ATTEMPTS)
    assert json.loads(text)["commit"] is None
    assert json.loads(text)["format"] == BENCH_SNAPSHOT.number


def test_another_format_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kept.json"
    text = snapshot.render(SETTINGS, TASKS, ATTEMPTS, None)
    file.write_text(text.replace('"format": 1', '"format": 99'), "utf-8")
    assert main(["compare", str(file), str(file)]) == 2
    assert capsys.readouterr().err == (
        f"npuforge: {file} was written by another version of npuforge "
        f"(snapshot of a benchmark 99, this one reads {BENCH_SNAPSHOT.number})\n"
    )
