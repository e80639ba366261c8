# SPDX-License-Identifier: Apache-2.0
"""The names on the screen while attempts start in one thread and end in another."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from npuforge.bench.attempt import Attempt
from npuforge.bench.settings import Settings
from npuforge.bench.store import Store
from npuforge.bench.task import Task
from npuforge.bench.worker import Job
from npuforge.cli.bench_progress import BenchProgress
from npuforge.verdict import Verdict


def test_attempts_start_and_end_in_different_threads(tmp_path: Path) -> None:
    settings = Settings(suite="forge")
    tasks = [Task(f"math/task{number}", "math", 1, Path()) for number in range(400)]
    failures: list[BaseException] = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with (
            Store.create(tmp_path / "run", settings, tasks) as store,
            BenchProgress(store, quiet=True) as progress,
        ):

            def start(some: list[Task]) -> None:
                try:
                    for task in some:
                        progress.started(Job(settings, task, 0, Path()))
                except RuntimeError as error:
                    failures.append(error)

            threads = [
                threading.Thread(target=start, args=(tasks[place::4],)) for place in range(4)
            ]
            for thread in threads:
                thread.start()
            for task in tasks[:200]:
                progress.ended(Attempt(task.name, 0, "judged", Verdict(task.name)))
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failures == []
