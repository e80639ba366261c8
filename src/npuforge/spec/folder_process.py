# SPDX-License-Identifier: Apache-2.0
"""A process in the sandbox that talks through the files of a scratch folder.

Every means of isolation can share a folder. The process is hostile: both sides go through a
`SharedFolder`, and every message has a type with bounds.
"""

from __future__ import annotations

import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import msgspec

from npuforge.errors import NpuforgeError, UsageError
from npuforge.printable import one_line
from npuforge.sandbox import Completed, Limits, Sandbox
from npuforge.sandbox.python import PACKAGE_ROOT, interpreter
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.scratch import new_folder, remove

_END_S = 30.0  # the supervisor kills within milliseconds


class FolderProcess(ABC):
    """`with` starts the process and ends it; `name` is whose fault its failures are.

    `patience_s` bounds the wait for a single file.
    """

    failure: ClassVar[type[UsageError]] = UsageError
    limits: ClassVar[Limits]
    patience_s: ClassVar[float]

    def __init__(self, name: str, sandbox: Sandbox | None = None) -> None:
        self.name = name
        self._sandbox = sandbox or Sandbox.detect()
        self.folder = SharedFolder(new_folder("module"))
        self._done: Completed | NpuforgeError | None = None
        self._until, self._running = os.pipe()
        # A daemon: an interrupted caller ends at once, and the supervisor ends with it.
        self._thread = threading.Thread(target=self._run, daemon=True)

    @abstractmethod
    def command(self) -> list[str | Path]:
        """What the interpreter is called with."""

    @abstractmethod
    def job(self) -> dict[str, Any]:
        """What the process finds in job.json."""

    @abstractmethod
    def opened(self) -> Sequence[Path]:
        """Files and folders of strangers that it may look into."""

    def start(self) -> None:
        self.write("job.json", {**self.job(), "package": str(PACKAGE_ROOT)})
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.write(self._running, b"e")
        os.close(self._running)
        self._thread.join(_END_S)
        self.folder.close()
        if not self._thread.is_alive():
            os.close(self._until)
            remove(self.folder.path)  # nobody can exchange what is being removed

    def wait(self, name: str, limit: int, folder: SharedFolder | None = None) -> bytes:
        """Return the content of a file that the process leaves, once it is there.

        It lies in `folder`, which is the process's own unless a subfolder is given.
        """
        place = folder or self.folder
        try:
            return place.wait(name, limit, seconds=self.patience_s, ended=self._ended)
        except HostileFileError as error:
            if self._done is not None and not place.holds(name):
                raise self.failure(f"{self.name}: {self._reason()}") from None
            raise self.failure(f"{self.name}: {error}") from None

    def write(self, name: str, content: Any) -> None:
        """Give the process a message, whole."""
        try:
            self.folder.write(name, msgspec.json.encode(content))
        except HostileFileError as error:
            raise self.failure(f"{self.name}: {error}") from None

    def _ended(self) -> bool:
        return self._done is not None

    def _run(self) -> None:
        try:
            self._done = self._sandbox.run(
                [sys.executable, *self.command()],
                scratch=self.folder.path,
                readable=[PACKAGE_ROOT, *interpreter()],
                opened=self.opened(),
                limits=self.limits,
                env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                preloaded=True,
                until=self._until,
            )
        except NpuforgeError as error:
            self._done = error

    def _reason(self) -> str:
        done = self._done
        if isinstance(done, NpuforgeError):
            return str(done)
        assert done is not None
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return done.killed_by or (one_line(lines[-1]) if lines else f"status {done.returncode}")
