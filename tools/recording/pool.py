# SPDX-License-Identifier: Apache-2.0
"""Workers in parallel: each is a process with a tree's npuforge that records item after item."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.recording.interpreter import interpreter_for
from tools.recording.items import Item
from tools.recording.tree import CallError

_WORKER = Path(__file__).with_name("worker.py")
_END_S = 10.0

Done = Callable[[Item, Mapping[str, str] | None, float], None]


class WorkerError(Exception):
    """A worker that ended without an answer."""


class Worker:
    """One process for a tree."""

    def __init__(self, tree: Path, python: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-B", str(_WORKER), str(tree), python],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(tree / "src")},
        )
        self._said: list[str] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        try:
            self._read()
        except WorkerError as error:
            raise CallError(f"{tree} cannot be recorded: {error}") from None

    def record(self, item: Item) -> Mapping[str, str]:
        """Return the item's texts; `WorkerError` if the process ends instead."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(item.order) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise WorkerError(self._last_words()) from None
        texts: Mapping[str, str] = json.loads(self._read())["texts"]
        return texts

    def close(self) -> None:
        """End the process when it has nothing to do."""
        assert self._process.stdin is not None
        with suppress(OSError, subprocess.TimeoutExpired):
            self._process.stdin.close()
            self._process.wait(_END_S)
        self.kill()

    def kill(self) -> None:
        """End the process whatever it does; who waits for its answer gets `WorkerError`."""
        self._process.kill()
        self._process.wait()
        self._listener.join(_END_S)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise WorkerError(self._last_words())
        return line

    def _listen(self) -> None:
        """Keep the last lines that the tree prints, so that it never waits for a reader."""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._said = [*self._said[-5:], line.strip()]

    def _last_words(self) -> str:
        status = self._process.wait()
        self._listener.join(_END_S)
        said = [line for line in self._said if line]
        return said[-1] if said else f"its process ended with status {status}"


def record_items(tree: Path, items: Sequence[Item], jobs: int, done: Done) -> None:
    """Record items with `jobs` workers; what sandboxed programs run with is made for the tree."""
    with interpreter_for(tree) as python:
        _record_with(lambda: Worker(tree, python), items, jobs, done)


def _record_with(start: Callable[[], Worker], items: Sequence[Item], jobs: int, done: Done) -> None:
    """Let workers record, `jobs` at once; `done` is told each item's texts (None for a worker that
    ended), and the seconds it took, by the calling thread."""
    every: list[Worker] = []
    idle: list[Worker] = []
    lock = threading.Lock()

    @contextmanager
    def borrowed() -> Iterator[Worker]:
        with lock:
            worker = idle.pop() if idle else None
        if worker is None:
            worker = start()
            every.append(worker)
        yield worker  # one that ended is borrowed no more
        with lock:
            idle.append(worker)

    def record(item: Item) -> tuple[Mapping[str, str] | None, float]:
        with borrowed() as worker:
            started = time.monotonic()
            return worker.record(item), time.monotonic() - started

    pool = ThreadPoolExecutor(jobs)
    try:
        work = {pool.submit(record, item): item for item in items}
        for future in as_completed(work):
            try:
                texts, seconds = future.result()
            except WorkerError as error:
                print(f"{work[future].name}: {error}", file=sys.stderr)
                texts, seconds = None, 0.0
            done(work[future], texts, seconds)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in every:
            worker.kill()
        raise
    pool.shutdown()
    for worker in every:
        worker.close()
