# SPDX-License-Identifier: Apache-2.0
"""A run that is killed goes on where it was."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.bench.running.suites import checkout

from npuforge.bench.store import Store
from npuforge.cli import main

TASKS = {f"kind{number % 3}/task{number}": "x * 2" for number in range(4)}


def command(suite: Path, run: Path, *more: str) -> list[str]:
    return ["bench", "multikernelbench", "--path", str(suite), "--out", str(run), *more]


def table(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text())
    for task in found["tasks"]:
        del task["seconds"]
    return {"tasks": found["tasks"], "passed": found["summary"]["passed"]}


@pytest.mark.slow
def test_killed_at_random_points_the_result_is_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    suite = checkout(tmp_path / "suite", TASKS)
    answers = tmp_path / "answers"
    answers.mkdir()
    (answers / "task3.txt").write_text("no answer at all")
    given = ("--answers", str(answers))
    whole, broken = tmp_path / "whole.json", tmp_path / "broken.json"
    assert main([*command(suite, tmp_path / "whole", *given), "--json", str(whole)]) == 1
    again = [*command(suite, tmp_path / "run", *given), "--resume"]
    seed = random.Random(7)
    counts = []
    for _ in range(3):
        child = subprocess.Popen(
            [sys.executable, "-m", "npuforge.cli", *again],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        time.sleep(seed.uniform(0.5, 3.0))
        child.send_signal(signal.SIGKILL)
        child.wait()
        if (tmp_path / "run" / "results.sqlite").exists():
            with Store(tmp_path / "run") as store:
                counts.append(len(store.attempts()))
    assert counts == sorted(counts)
    assert main([*again, "--json", str(broken)]) == 1
    assert table(broken) == table(whole)
    capfd.readouterr()


def test_nothing_goes_on_behind_a_killed_run(tmp_path: Path) -> None:
    suite = checkout(tmp_path / "suite", {"a/one": "x + 1"})
    run = command(suite, tmp_path / "run")
    child = subprocess.Popen(
        [sys.executable, "-m", "npuforge.cli", *run],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    log = tmp_path / "run" / "attempts" / "a" / "one" / "0" / "log.txt"
    until = time.monotonic() + 60
    while not log.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert log.exists()
    workers = _workers(child.pid)
    child.send_signal(signal.SIGKILL)
    child.wait()
    while any(map(_alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert workers
    assert not any(map(_alive, workers))


def _workers(parent: int) -> list[int]:
    found = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(number) for file in found for number in file.read_text().split()]


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_run_is_resumed_with_its_own_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = checkout(tmp_path / "suite", {"a/one": "x + 1"})
    (tmp_path / "answers").mkdir()
    answers = ("--answers", str(tmp_path / "answers"))
    assert main(command(suite, tmp_path / "run", *answers)) == 1
    assert main(command(suite, tmp_path / "run", *answers)) == 2
    assert "--resume" in capsys.readouterr().err
    resumed = ["bench", "multikernelbench", "--out", str(tmp_path / "run"), "--resume"]
    assert main(resumed) == 1
    assert main([*resumed, "--samples", "3"]) == 2
    assert "samples" in capsys.readouterr().err
    assert main([*resumed, "--tasks", "b/*"]) == 2
    assert "tasks" in capsys.readouterr().err
    for wrong in (["--answers", "reference"], ["--answers", str(tmp_path / "nowhere")]):
        assert main([*command(suite, tmp_path / "other"), *wrong]) == 2
    assert main(["bench", "forge", "--shapes", "v0"]) == 2
    assert not (tmp_path / "other").exists()
    assert main(["bench", "multikernelbench", "--path", str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err
