# SPDX-License-Identifier: Apache-2.0
"""A process in the sandbox that talks through the files of a scratch folder.

Every means of isolation can share a folder. Files appear whole or not at all, and what the process
leaves is read as data.
"""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import msgspec

from npuforge.errors import NpuforgeError, UsageError
from npuforge.files import write_whole
from npuforge.sandbox import Completed, Limits, Sandbox, open_plain
from npuforge.sandbox.python import PACKAGE_ROOT, interpreter
from npuforge.scratch import new_folder, remove

STOP = "stop.json"  # the process ends when it finds this
_POLL_S = 0.005


class FolderProcess(ABC):
    """`with` starts the process and ends it; `name` is whose fault its failures are."""

    failure: ClassVar[type[UsageError]] = UsageError
    limits: ClassVar[Limits]

    def __init__(self, name: str, sandbox: Sandbox | None = None) -> None:
        self.name = name
        self._sandbox = sandbox or Sandbox.detect()
        self.scratch = new_folder("module")
        self._done: Completed | NpuforgeError | None = None
        # A daemon: an interrupted caller ends at once, and the supervisor ends with it.
        self._thread = threading.Thread(target=self._run, daemon=True)

    @abstractmethod
    def command(self) -> list[str | Path]:
        """What the interpreter is called with."""

    @abstractmethod
    def job(self) -> dict[str, Any]:
        """What the process finds in job.json."""

    @abstractmethod
    def readable(self) -> Sequence[Path]:
        """Folders it may look into besides Python's and this package's."""

    def start(self) -> None:
        self.write("job.json", {**self.job(), "package": str(PACKAGE_ROOT)})
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.write(STOP, True)
        if kind is None or issubclass(kind, Exception):
            self._thread.join(timeout=2.0)
        remove(self.scratch)

    def wait(self, name: str, limit: int) -> bytes:
        """The content of a file that the process leaves, once it is there."""
        path = self.scratch / name
        while not path.exists():
            if self._done is not None and not path.exists():
                raise self.failure(f"{self.name}: {self._reason()}")
            time.sleep(_POLL_S)
        file = open_plain(path, limit)
        if file is None:
            raise self.failure(f"{self.name} left no readable {name}")
        with file:
            return file.read()

    def write(self, name: str, content: Any) -> None:
        """The process sees the whole file or none."""
        write_whole(self.scratch / name, msgspec.json.encode(content))

    def _run(self) -> None:
        try:
            self._done = self._sandbox.run(
                [sys.executable, *self.command()],
                scratch=self.scratch,
                readable=[PACKAGE_ROOT, *interpreter(), *self.readable()],
                limits=self.limits,
                env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                preloaded=True,
            )
        except NpuforgeError as error:
            self._done = error

    def _reason(self) -> str:
        done = self._done
        if isinstance(done, NpuforgeError):
            return str(done)
        assert done is not None
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return done.killed_by or (lines[-1] if lines else f"status {done.returncode}")
