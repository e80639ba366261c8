# SPDX-License-Identifier: Apache-2.0
"""A module's file in a process of its own: its graph comes first, answers to questions later.

The file is untrusted: it runs in the sandbox, with limits, and what it leaves is read as data.
Starting torch takes seconds, so one process does everything, while the caller plans and builds.
Both sides talk through files of a scratch folder, which every means of isolation can share.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from npuforge.errors import NpuforgeError, UsageError
from npuforge.sandbox import Completed, Limits, Sandbox, open_plain
from npuforge.spec.graph import Graph

_WORKER = Path(__file__).with_name("capture_worker.py")
_PACKAGE = Path(__file__).parent.parent
_LIMITS = Limits(cpu_s=240.0, wall_s=600.0, memory_bytes=8 << 30)
_MOST_JSON = 64 << 20
_POLL_S = 0.01
STOP = "stop.json"  # the process ends when it finds this


def operator_name(text: str) -> str:
    """`text` as an operator may be called: `1_Softmax-v2` is `softmax_v2`."""
    name = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)).strip("_").lower()
    return re.sub(r"^[\d_]+", "", name) or "operator"


class Signature(msgspec.Struct, frozen=True):
    """How the module is made and called: arguments as Python writes them, with defaults."""

    init: list[str]
    forward: list[str]


class _Captured(msgspec.Struct, frozen=True):
    graph: Graph | None = None
    signature: Signature | None = None
    error: str | None = None


class ModuleSession:
    """`with ModuleSession(file) as session:` starts the process; `graph` waits for its answer.

    `then` names a module of this package with a function `serve(captured, question)`, which answers
    one question in the same process.
    """

    def __init__(
        self, file: Path, *, then: str | None = None, sandbox: Sandbox | None = None
    ) -> None:
        if not file.is_file():
            raise UsageError(f"no such file: {file}")
        self.file = file.resolve()
        self._then = then
        self._sandbox = sandbox or Sandbox.detect()
        self._place = tempfile.TemporaryDirectory(
            prefix="npuforge-module-", ignore_cleanup_errors=True
        )
        self.scratch = Path(self._place.name)
        self._done: Completed | NpuforgeError | None = None
        self._captured: _Captured | None = None
        # A daemon: an interrupted caller ends at once, and the supervisor ends with it.
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ModuleSession:
        job = {
            "file": str(self.file),
            "name": operator_name(self.file.stem),
            "then": self._then,
            "package": str(_PACKAGE.parent),
        }
        (self.scratch / "job.json").write_text(json.dumps(job), "utf-8")
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._write(STOP, True)
        if kind is None or issubclass(kind, Exception):
            self._thread.join(timeout=2.0)
        self._place.cleanup()

    @property
    def graph(self) -> Graph:
        """The graph of the module; `UsageError` says why there is none."""
        found = self._first().graph
        assert found is not None
        return found

    @property
    def signature(self) -> Signature:
        """How the module is made and called."""
        found = self._first().signature
        assert found is not None
        return found

    def ask(self, question: Any) -> None:
        """Hand over the one question; `wait` for the files of its answer."""
        self._write("question.json", question)

    def wait(self, name: str, limit: int) -> bytes:
        """The content of a file that the process leaves, once it is there."""
        path = self.scratch / name
        while not path.exists():
            if self._done is not None and not path.exists():
                raise UsageError(f"{self.file.name}: {self._reason()}")
            time.sleep(_POLL_S)
        file = open_plain(path, limit)
        if file is None:
            raise UsageError(f"{self.file.name} left no readable {name}")
        with file:
            return file.read()

    def _first(self) -> _Captured:
        if self._captured is None:
            try:
                text = self.wait("graph.json", _MOST_JSON)
                self._captured = msgspec.json.decode(text, type=_Captured)
            except (UsageError, msgspec.DecodeError) as error:
                reason = str(error).removeprefix(f"{self.file.name}: ")
                self._captured = _Captured(error=reason)
        if self._captured.error is not None:
            raise UsageError(f"{self.file.name} could not be captured: {self._captured.error}")
        return self._captured

    def _run(self) -> None:
        try:
            self._done = self._sandbox.run(
                [sys.executable, "-s", "-B", _WORKER],
                scratch=self.scratch,
                readable=[_PACKAGE, Path(sys.prefix), Path(sys.base_prefix), self.file.parent],
                limits=_LIMITS,
                env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
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

    def _write(self, name: str, content: Any) -> None:
        """The process sees the whole file or none."""
        made = self.scratch / f"{name}.part"
        made.write_bytes(msgspec.json.encode(content))
        made.replace(self.scratch / name)
