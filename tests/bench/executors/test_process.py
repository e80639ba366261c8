# SPDX-License-Identifier: Apache-2.0
"""An attempt as a child process: its end, its time and its stop."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from npuforge.bench.attempt import Attempt
from npuforge.bench.executors.process import Child
from npuforge.bench.settings import Settings
from npuforge.bench.task import Task
from npuforge.bench.worker import Job


def job(place: Path, limit_s: float) -> Job:
    settings = Settings(suite="forge", limit_s=limit_s)
    return Job(settings, Task("math/nothing", "math", 1, Path()), 0, place)


def test_a_task_that_this_machine_does_not_have_is_a_crashed_attempt(tmp_path: Path) -> None:
    attempt = Child().run(job(tmp_path / "place", 300.0))
    assert attempt.state == "crashed"
    assert "no task math/nothing" in str(attempt.reason)


def test_a_child_that_takes_too_long_is_a_time_out(tmp_path: Path) -> None:
    attempt = Child().run(job(tmp_path / "place", 0.01))
    assert (attempt.state, attempt.reason) == ("timeout", "took more than 0.01 s")


def test_a_stopped_child_ends_and_kills_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    real = os.killpg

    def noted(group: int, number: int) -> None:
        killed.append(group)
        real(group, number)

    monkeypatch.setattr(os, "killpg", noted)
    child, results = Child(), list[Attempt]()
    thread = threading.Thread(target=lambda: results.append(child.run(job(tmp_path / "p", 300.0))))
    thread.start()
    while not (tmp_path / "p" / "log.txt").exists():
        time.sleep(0.01)
    child.stop()
    thread.join()
    assert results[0].state == "crashed"
    before = len(killed)
    child.stop()  # its number may be another process's by now
    assert len(killed) == before
