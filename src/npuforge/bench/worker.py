# SPDX-License-Identifier: Apache-2.0
"""One attempt in a process of its own: `python -m npuforge.bench.worker JOB.json`.

The attempt is left as `attempt.json` in the job's folder. Whoever started this process holds its
standard input open: when that ends, so does this process with everything it started, and nothing
goes on behind the back of a run that was killed.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import msgspec

from npuforge.bench.attempt import Attempt
from npuforge.bench.codec import decode
from npuforge.bench.settings import Settings
from npuforge.bench.suite import Suite
from npuforge.bench.suites import open_suite
from npuforge.bench.task import Task
from npuforge.errors import NpuforgeError, UsageError
from npuforge.files import write_whole
from npuforge.sandbox import permit

ATTEMPT = "attempt.json"


class Job(msgspec.Struct, frozen=True):
    """One attempt to make; `place` is an empty folder for what it leaves."""

    settings: Settings
    task: Task
    sample: int
    place: Path


def attempt(job: Job) -> Attempt:
    """Make it; bad input is that attempt's result."""
    started = time.monotonic()
    try:
        suite = open_suite(job.settings)
        found = suite.attempt(_task(suite, job.task.name), job.sample, job.place)
    except NpuforgeError as error:
        found = Attempt.ended_early(job.task, job.sample, "crashed", str(error))
    verdict = replace(
        found.verdict,
        category=job.task.category,
        level=job.task.level,
        strategy=None if job.settings.answers else job.settings.strategy,
        soc=job.settings.soc,
        seconds=round(time.monotonic() - started, 3),
    )
    return replace(found, verdict=verdict)


def _task(suite: Suite, name: str) -> Task:
    """Find the task on this machine, whose checkout may lie elsewhere than the runner's."""
    for task in suite.tasks():
        if task.name == name:
            return task
    raise UsageError(f"the checkout has no task {name} on this machine")


def _end_with_parent() -> None:
    def wait() -> None:
        while os.read(0, 1):  # nobody writes: it ends with the parent
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def main() -> int:
    _end_with_parent()
    job = decode(Path(sys.argv[1]).read_bytes(), Job)
    permit(job.settings.isolation)
    write_whole(job.place / ATTEMPT, attempt(job).to_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
