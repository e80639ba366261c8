# SPDX-License-Identifier: Apache-2.0
"""Attempts as processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue

from npuforge.bench.attempt import Attempt
from npuforge.bench.executors.process import Child
from npuforge.bench.worker import Job


class LocalExecutor:
    """`count` attempts at once."""

    def __init__(self, count: int) -> None:
        self.count = count

    def run(self, jobs: Iterable[Job], started: Callable[[Job], None]) -> Generator[Attempt]:
        """Attempts as they end; when the caller stops listening, those under way are ended."""
        children = [Child() for _ in range(self.count)]
        free: SimpleQueue[Child] = SimpleQueue()
        for child in children:
            free.put(child)

        def make(job: Job) -> Attempt:
            child = free.get()
            try:
                started(job)
                return child.run(job)
            finally:
                free.put(child)

        pool = ThreadPoolExecutor(self.count)
        work = [pool.submit(make, job) for job in jobs]
        try:
            for done in as_completed(work):
                yield done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in children:
                child.stop()
            pool.shutdown()
