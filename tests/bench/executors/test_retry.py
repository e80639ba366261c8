# SPDX-License-Identifier: Apache-2.0
"""Attempts that die with their workers, on machines that die as they are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from npuforge.bench.attempt import Attempt
from npuforge.bench.executors.retry import Lost, attempts
from npuforge.bench.settings import Settings
from npuforge.bench.task import Task
from npuforge.bench.worker import Job
from npuforge.errors import NpuforgeError
from npuforge.verdict import Verdict

SETTINGS = Settings(suite="forge")


def job(name: str) -> Job:
    return Job(SETTINGS, Task(name, "math", 1, Path(name)), 0, Path(name))


class Machines:
    """Ends attempts in their order; each fate in `fates` befalls the task once, in turn."""

    def __init__(self, fates: dict[str, list[Lost | Exception]]) -> None:
        self.begun: list[str] = []
        self.abandoned: list[int] = []
        self.most = 0
        self._fates = fates

    def begin(self, job: Job) -> int:
        self.begun.append(job.task.name)
        return len(self.begun) - 1

    def ended(self, running: Sequence[int]) -> tuple[int, Attempt | Lost]:
        self.most = max(self.most, len(running))
        name = self.begun[running[0]]
        fates = self._fates.get(name)
        fate = fates.pop(0) if fates else Attempt(name, 0, "judged", Verdict(name))
        if isinstance(fate, Exception):
            raise fate
        return running[0], fate

    def abandon(self, ticket: int) -> None:
        self.abandoned.append(ticket)


def made(machines: Machines, names: Iterable[str], count: int = 2) -> dict[str, Attempt]:
    results = list(attempts(map(job, names), machines, count, lambda _: None))
    assert len({attempt.task for attempt in results}) == len(results)
    return {attempt.task: attempt for attempt in results}


def test_a_lost_attempt_is_made_again_after_the_others() -> None:
    machines = Machines({"a": [Lost("worker died")]})
    results = made(machines, "abc")
    assert machines.begun == ["a", "b", "c", "a"]
    assert {name: attempt.lost for name, attempt in results.items()} == {"a": 1, "b": 0, "c": 0}
    assert results["a"].state == "judged"
    assert machines.most == 2


def test_an_attempt_that_kills_three_workers_is_a_crashed_attempt() -> None:
    machines = Machines({"a": [Lost("first"), Lost("second"), Lost("out of memory")]})
    results = made(machines, "ab")
    assert machines.begun.count("a") == 3
    assert (results["a"].state, results["a"].lost) == ("crashed", 3)
    message = "3 workers died while they made this attempt; the last: out of memory"
    assert results["a"].reason == results["a"].verdict.error == message
    assert results["b"].state == "judged"


def test_a_cluster_that_is_gone_ends_the_run_and_abandons_the_rest() -> None:
    machines = Machines({"b": [NpuforgeError("gone")]})
    running = attempts(map(job, "abc"), machines, 2, lambda _: None)
    assert next(running).task == "a"
    with pytest.raises(NpuforgeError, match="gone"):
        next(running)
    assert machines.abandoned == [1, 2]
