# SPDX-License-Identifier: Apache-2.0
"""One attempt, made in a process of its own (`worker_process.py`)."""

from __future__ import annotations

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


def make(file: Path) -> None:
    """Make the attempt of a job's file; it is left as `attempt.json` in the job's folder."""
    job = decode(file.read_bytes(), Job)
    permit(job.settings.isolation)
    write_whole(job.place / ATTEMPT, attempt(job).to_json())
