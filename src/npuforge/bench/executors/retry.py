# SPDX-License-Identifier: Apache-2.0
"""Attempts on machines that may die: a lost attempt is made again elsewhere, a few times.

Nothing here knows the cluster: `Machines` begins attempts and reports their ends.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from npuforge.bench.attempt import Attempt
from npuforge.bench.worker import Job

MOST_LOSSES = 3  # workers that one attempt may take with it


@dataclass(frozen=True, slots=True)
class Lost:
    """The end of a worker before its attempt ended; `reason` is what the cluster says of it."""

    reason: str


Ticket = TypeVar("Ticket", bound=Hashable)


class Machines(Protocol[Ticket]):
    """Workers of a cluster. A method that raises ends the run: the cluster is gone."""

    def begin(self, job: Job) -> Ticket: ...

    def ended(self, running: Sequence[Ticket]) -> tuple[Ticket, Attempt | Lost]:
        """Wait for the end of one of them."""
        ...

    def abandon(self, ticket: Ticket) -> None: ...


def attempts(
    jobs: Iterable[Job], machines: Machines[Ticket], count: int, started: Callable[[Job], None]
) -> Generator[Attempt]:
    """Yield attempts as they end, `count` of them at once; each job gives one attempt.

    A lost job goes to the end of the queue. After `MOST_LOSSES` losses it is a crashed attempt.
    """
    waiting = deque(jobs)
    running: dict[Ticket, Job] = {}
    losses: Counter[tuple[str, int]] = Counter()
    try:
        while waiting or running:
            while waiting and len(running) < count:
                job = waiting.popleft()
                started(job)
                running[machines.begin(job)] = job
            ticket, result = machines.ended(list(running))
            job = running.pop(ticket)
            key = (job.task.name, job.sample)
            if isinstance(result, Attempt):
                yield replace(result, lost=losses[key])
                continue
            losses[key] += 1
            if losses[key] < MOST_LOSSES:
                waiting.append(job)
            else:
                yield _given_up(job, losses[key], result.reason)
    finally:
        for ticket in running:
            machines.abandon(ticket)


def _given_up(job: Job, losses: int, reason: str) -> Attempt:
    message = f"{losses} workers died while they made this attempt; the last: {reason}"
    attempt = Attempt.ended_early(job.task, job.sample, "crashed", message)
    return replace(attempt, lost=losses)
