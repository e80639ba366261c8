# SPDX-License-Identifier: Apache-2.0
"""What an answer is worth, by the verdicts of a pool of judges.

A judge is a class `module:Name` whose objects have `judge(task, text)`. Each works in a process of
its own (`judge_worker`) without a GPU. One that crashes or takes too long is replaced, and what it
had to judge is worth nothing; training goes on.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType
from typing import IO, Any, Protocol, Self

import msgspec

from npuforge.errors import UsageError
from npuforge.keys import keyless
from npuforge.sandbox.python import NO_DEVICES
from npuforge.train.recipe import Grpo

_START_S = 120.0  # for a judge to be made: it imports a lot, perhaps on a busy machine


class Verdict(Protocol):
    """What a judge finds."""

    @property
    def parsed(self) -> bool: ...
    @property
    def compiled(self) -> bool: ...
    @property
    def correct(self) -> bool: ...
    @property
    def violations(self) -> int: ...
    @property
    def time_us(self) -> float | None: ...
    @property
    def baseline_us(self) -> float | None: ...
    @property
    def isolated(self) -> bool: ...


class Judge(Protocol):
    """Judges texts; made without arguments, once in each process."""

    def judge(self, task: dict[str, Any], text: str) -> Verdict:
        """The verdict on an answer to the task."""


class Outcome(msgspec.Struct, frozen=True):
    """A verdict on its way between processes; `failure` says why there is none."""

    parsed: bool = False
    compiled: bool = False
    correct: bool = False
    violations: int = 0
    time_us: float | None = None
    baseline_us: float | None = None
    isolated: bool = True
    failure: str = ""


class Question(msgspec.Struct, frozen=True):
    """What a judge is asked."""

    task: dict[str, Any]
    text: str


def parts(outcome: Outcome) -> dict[str, float]:
    """From 0 to 1 each: how far the answer came. Each needs the one before.

    An unisolated verdict is worth nothing: the answer could reach what judges it.
    """
    if not outcome.isolated:
        outcome = Outcome()
    rules = outcome.compiled and outcome.violations == 0
    correct = rules and outcome.correct
    faster = 0.0
    if correct and outcome.time_us and outcome.baseline_us:
        faster = min(1.0, max(0.0, outcome.baseline_us / outcome.time_us - 1.0))
    return {
        "parsed": float(outcome.parsed),
        "compiled": float(outcome.compiled),
        "rules": float(rules),
        "correct": float(correct),
        "faster": faster,
    }


def weights(recipe: Grpo) -> dict[str, float]:
    """What each part is worth."""
    return {name: getattr(recipe, f"reward_{name}") for name in parts(Outcome())}


class Pool:
    """Judges in processes of their own; use it in a `with`."""

    def __init__(self, judge: str, size: int, limit_s: float) -> None:
        self._threads = ThreadPoolExecutor(size)
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        self._workers = [_Worker(judge, limit_s) for _ in range(size)]
        for worker in self._workers:
            self._free.put(worker)

    def __enter__(self) -> Self:
        """Start a judge, so that one which cannot be made is found before training begins."""
        try:
            self._workers[0].start()
        except _NoAnswerError as error:
            self.close()
            raise UsageError(f"the judge does not start: {error}") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every process."""
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.stop()

    def judge(self, questions: Sequence[Question]) -> list[Outcome]:
        """One outcome for each question, in order; equal questions are judged once."""
        encoded = [msgspec.json.encode(question) for question in questions]
        tasks: dict[bytes, dict[bytes, None]] = {}
        for line, question in zip(encoded, questions, strict=True):
            tasks.setdefault(msgspec.json.encode(question.task), {})[line] = None
        distinct = sum(map(len, tasks.values()))
        share = -(-distinct // len(self._workers))
        # A task's answers go to one judge, which prepares the task once, as long as all have work.
        batches = [batch for lines in tasks.values() for batch in _cut(list(lines), share)]
        found: dict[bytes, Outcome] = {}
        for batch, outcomes in zip(batches, self._threads.map(self._some, batches), strict=True):
            found.update(zip(batch, outcomes, strict=True))
        return [found[line] for line in encoded]

    def _some(self, lines: list[bytes]) -> list[Outcome]:
        worker = self._free.get()
        try:
            return [worker.ask(line) for line in lines]
        finally:
            self._free.put(worker)


def _cut(lines: list[bytes], most: int) -> list[list[bytes]]:
    return [lines[start : start + most] for start in range(0, len(lines), most)]


class _NoAnswerError(Exception):
    """A judge crashed or took too long."""


class _Worker:
    """One process, started when it is needed."""

    def __init__(self, judge: str, limit_s: float) -> None:
        self._judge = judge
        self._limit_s = limit_s
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, line: bytes) -> Outcome:
        try:
            process = self.start()
            assert process.stdin is not None
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            return msgspec.json.decode(_line(process, self._limit_s), type=Outcome)
        except (_NoAnswerError, OSError, msgspec.DecodeError) as error:
            self.stop()
            return Outcome(failure=str(error))

    def start(self) -> subprocess.Popen[bytes]:
        """The process, ready to be asked."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "npuforge.train.judge_worker", self._judge],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**keyless(), **NO_DEVICES, "OMP_NUM_THREADS": "1"},
                start_new_session=True,  # an interrupt is for the trainer; stop() ends them all
            )
            greeting = _line(self._process, _START_S)
            if greeting != b"ready":
                self.stop()
                raise _NoAnswerError(greeting.decode(errors="replace"))
        return self._process

    def stop(self) -> None:
        """End the process and whatever it started."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with suppress(OSError):
                stream.close()
        process.wait()


def _line(process: subprocess.Popen[bytes], limit_s: float) -> bytes:
    """The next line that the process writes."""
    stream: IO[bytes] | None = process.stdout
    assert stream is not None
    until = time.monotonic() + limit_s
    found = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while not found.endswith(b"\n"):
            if not selector.select(max(0.0, until - time.monotonic())):
                raise _NoAnswerError(f"no answer within {limit_s:g} s")
            block = os.read(stream.fileno(), 1 << 16)
            if not block:
                raise _NoAnswerError("the judge's process ended")
            found += block
    return found[:-1]


def reward_functions(pool: Pool) -> list[Callable[..., list[float]]]:
    """A function for each part, as TRL wants them: it draws a curve of each.

    TRL calls them one after another with the same samples; the first has them judged.
    """
    last: tuple[list[Question], list[Outcome]] = ([], [])

    def outcomes(
        completions: Sequence[Any], task: Sequence[str], log: Callable[[str, float], None]
    ) -> list[Outcome]:
        nonlocal last
        questions = [
            Question(msgspec.json.decode(one), completion[-1]["content"])
            for one, completion in zip(task, completions, strict=True)
        ]
        if last[0] != questions:
            last = (questions, pool.judge(questions))
            log("judge_failures", sum(bool(outcome.failure) for outcome in last[1]))
        return last[1]

    def function(name: str) -> Callable[..., list[float]]:
        def reward(
            completions: Sequence[Any],
            task: Sequence[str],
            log_metric: Callable[[str, float], None],
            **_: Any,
        ) -> list[float]:
            found = outcomes(completions, task, log_metric)
            return [parts(outcome)[name] for outcome in found]

        reward.__name__ = name
        return reward

    return [function(name) for name in parts(Outcome())]
