# SPDX-License-Identifier: Apache-2.0
"""One attempt as a child process: its result, or what became of it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from npuforge.bench.attempt import Attempt, State
from npuforge.bench.codec import encode
from npuforge.bench.worker import ATTEMPT, Job
from npuforge.errors import NpuforgeError, UsageError
from npuforge.keys import keyless
from npuforge.sandbox.python import NO_DEVICES
from npuforge.scratch import remove, scratch_folder

LOG = "log.txt"
_TAIL = 64 << 10  # bytes of a log that are looked at
_COMMAND = (sys.executable, "-m", "npuforge.bench.worker_process")


class Child:
    """Runs attempts one after the other; `stop` ends the one that is under way."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._guard = threading.Lock()

    def run(self, job: Job) -> Attempt:
        """The attempt; a crash and a time-out are results too."""
        _empty(job.place)
        with scratch_folder("job") as folder:
            file = folder / "job.json"
            file.write_bytes(encode(job))
            with (job.place / LOG).open("wb") as log:
                asks = job.settings.model is not None
                environment = dict(os.environ) if asks else keyless()
                command, limit_s = [*_COMMAND, str(file)], job.settings.limit_s
                timeout = self._wait(command, log.fileno(), limit_s, environment)
        if timeout:
            limit = f"took more than {job.settings.limit_s:g} s"
            return _ended(job, "timeout", limit)
        try:
            return Attempt.from_json((job.place / ATTEMPT).read_bytes())
        except (OSError, NpuforgeError):
            return _ended(job, "crashed", _last_line(job.place / LOG))

    def stop(self) -> None:
        with self._guard:
            self._stopped = True
            self._kill()

    def _wait(
        self, command: list[str], log: int, limit_s: float, environment: dict[str, str]
    ) -> bool:
        """Whether the time was up."""
        with self._guard:
            process = self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={**environment, **NO_DEVICES},
                start_new_session=True,
            )
            if self._stopped:
                self._kill()
        ended = os.pidfd_open(process.pid)
        try:
            return not select.select([ended], [], [], min(limit_s, threading.TIMEOUT_MAX))[0]
        finally:
            os.close(ended)
            with self._guard:
                self._kill()
                self._process = None
                assert process.stdin is not None
                process.stdin.close()
                process.wait()

    def _kill(self) -> None:
        """Kill the group while its leader is not reaped: later its number may be another's."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


def _empty(place: Path) -> None:
    remove(place)
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"cannot make {place}: {error.strerror}") from None


def _ended(job: Job, state: State, reason: str) -> Attempt:
    attempt = Attempt.ended_early(job.task, job.sample, state, reason)
    return replace(attempt, files={"log": LOG})


def _last_line(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
        lines = file.read(_TAIL).decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else "ended without a word"
