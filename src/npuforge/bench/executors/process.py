# SPDX-License-Identifier: Apache-2.0
"""One attempt as a child process: its result, or what became of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from npuforge.bench.attempt import Attempt, State
from npuforge.bench.codec import encode
from npuforge.bench.worker import ATTEMPT, Job
from npuforge.errors import NpuforgeError
from npuforge.keys import keyless
from npuforge.scratch import scratch_folder
from npuforge.verdict import Verdict

LOG = "log.txt"
_COMMAND = (sys.executable, "-m", "npuforge.bench.worker")


class Child:
    """Runs attempts one after the other; `stop` ends the one that is under way."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

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
        self._stopped = True
        self._kill()

    def _wait(
        self, command: list[str], log: int, limit_s: float, environment: dict[str, str]
    ) -> bool:
        """Whether the time was up."""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
        )
        if self._stopped:
            self._kill()
        try:
            self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return True
        finally:
            self._kill()
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
        return False

    def _kill(self) -> None:
        if self._process is not None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def _empty(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)


def _ended(job: Job, state: State, reason: str) -> Attempt:
    verdict = Verdict(job.task.name, job.task.category, job.task.level, error=reason)
    return Attempt(job.task.name, job.sample, state, verdict, reason=reason, files={"log": LOG})


def _last_line(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "ended without a word"
