# SPDX-License-Identifier: Apache-2.0
"""The process that runs a table's adapter in the sandbox, and answers requests one by one.

Starting torch takes seconds, so one process serves a whole table. Both sides talk through files of
a scratch folder; what the process leaves is read as data.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from npuforge.bench.tables.table import Table
from npuforge.dtypes import HostTensor, find
from npuforge.errors import NpuforgeError, UsageError
from npuforge.sandbox import GIB, Completed, Limits, Sandbox, open_plain
from npuforge.spec.graph import EagerOp, Graph
from npuforge.spec.session import Signature
from npuforge.twin.session_result import read_back

_WORKER = Path(__file__).with_name("worker.py")
_PACKAGE = Path(__file__).parents[2]
# Whoever runs the attempt limits its time; this only ends what nobody waits for.
_LIMITS = Limits(cpu_s=7200.0, wall_s=14400.0, memory_bytes=12 * GIB)
_MOST_JSON = 64 << 20
_POLL_S = 0.005
_T = TypeVar("_T")


class Given(msgspec.Struct, frozen=True):
    """A tensor among a row's arguments."""

    shape: tuple[int, ...]
    dtype: str


class Described(msgspec.Struct, frozen=True):
    """A row as far as programs care: all but the extents in `key`, tensors in order."""

    key: str = ""
    tensors: list[Given] = []
    error: str | None = None


class File(msgspec.Struct, frozen=True):
    file: str
    shape: tuple[int, ...]
    dtype: str


class Made(msgspec.Struct, frozen=True):
    """A row's tensors: sources of its graph, the reference's results, those in double precision."""

    sources: list[File]
    wanted: list[File]
    golden: list[File | None]


class Checked(msgspec.Struct, frozen=True):
    """The suite's own word on a row."""

    passed: bool
    message: str = ""
    figures: dict[str, float | None] = {}


class _Captured(msgspec.Struct, frozen=True):
    graph: Graph
    signature: Signature


class RequestError(UsageError):
    """The adapter, the reference or the checker failed on a request."""


class TableSession:
    """`with TableSession(table) as session:`; requests that fail raise `RequestError`."""

    def __init__(self, table: Table, sandbox: Sandbox | None = None) -> None:
        self.table = table
        self._sandbox = sandbox or Sandbox.detect()
        self._place = tempfile.TemporaryDirectory(
            prefix="npuforge-table-", ignore_cleanup_errors=True
        )
        self.scratch = Path(self._place.name)
        self._done: Completed | NpuforgeError | None = None
        self._asked = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> TableSession:
        job = {
            "adapter": str(self.table.adapter.resolve()),
            "place": str(self.table.place.resolve()),
            "package": str(_PACKAGE.parent),
            "name": self.table.name,
            "rows": list(self.table.rows),
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
        self._write("stop.json", b"true")
        if kind is None or issubclass(kind, Exception):
            self._thread.join(timeout=2.0)
        self._place.cleanup()

    def describe(self) -> list[Described]:
        """Every row's signature; a row whose arguments cannot be made says why."""
        return self._request({"do": "describe"}, list[Described])

    def capture(self, row: int) -> tuple[Graph, Signature]:
        """The reference's graph, with the row as its example."""
        found = self._request({"do": "capture", "row": row}, _Captured)
        return found.graph, found.signature

    def prove(self, row: int, question: Any, folder: str) -> None:
        """Have the reference of a captured row answer cases; answers come to the folder."""
        (self.scratch / folder).mkdir()
        self._request({"do": "prove", "row": row, "question": question, "folder": folder}, bool)

    def make(self, row: int, captured: int | None) -> Made:
        """A row's tensors, as the graph captured from row `captured` takes them; None: sources are
        the tensors among the arguments."""
        return self._request({"do": "make", "row": row, "captured": captured}, Made)

    def check(self, row: int, given: Sequence[HostTensor]) -> Checked:
        """The suite's check of results for the row made last."""
        files = []
        for number, tensor in enumerate(given):
            name = f"given{number}.bin"
            (self.scratch / name).write_bytes(tensor.to_bytes())
            files.append(File(name, tensor.shape, tensor.dtype.name))
        return self._request({"do": "check", "row": row, "given": files}, Checked)

    def eager(self, row: int) -> list[EagerOp]:
        """What eager PyTorch dispatches for the row; nothing where the reference needs data."""
        return self._request({"do": "eager", "row": row}, list[EagerOp])

    def read(self, item: File) -> HostTensor:
        """A tensor that the process left; its file goes."""
        dtype = find(item.dtype)
        count = 1
        for extent in item.shape:
            count *= extent
        path = self.scratch / Path(item.file).name
        size = dtype.bytes_for(count)
        octets = read_back(path, size)
        if octets is None or octets.size != size:
            raise RequestError(f"{self.table.name}: a damaged tensor: {item.file}")
        path.unlink()
        return HostTensor.from_bytes(octets, item.shape, dtype)

    def wait(self, name: str, limit: int) -> bytes:
        """The content of a file that the process leaves, once it is there."""
        path = self.scratch / name
        while not path.exists():
            if self._done is not None and not path.exists():
                raise RequestError(f"{self.table.name}: {self._reason()}")
            time.sleep(_POLL_S)
        file = open_plain(path, limit)
        if file is None:
            raise RequestError(f"{self.table.name} left no readable {name}")
        with file:
            return file.read()

    def _request(self, content: dict[str, Any], kind: type[_T]) -> _T:
        number = self._asked
        self._asked += 1
        self._write(f"request{number}.json", msgspec.json.encode(content))
        text = self.wait(f"reply{number}.json", _MOST_JSON)
        try:
            reply = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
            if "error" in reply:
                raise RequestError(msgspec.json.decode(reply["error"], type=str))
            return msgspec.json.decode(reply["answer"], type=kind)
        except (msgspec.DecodeError, KeyError) as error:
            raise RequestError(f"{self.table.name}: a damaged answer: {error}") from None

    def _run(self) -> None:
        table = self.table
        place = table.place.resolve()
        try:
            self._done = self._sandbox.run(
                [sys.executable, "-I", "-B", _WORKER],
                scratch=self.scratch,
                readable=[
                    _PACKAGE,
                    Path(sys.prefix),
                    Path(sys.base_prefix),
                    table.adapter.resolve().parent,
                    place if place.is_dir() else place.parent,
                    *(folder.resolve() for folder in table.readable),
                ],
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

    def _write(self, name: str, content: bytes) -> None:
        """The process sees the whole file or none."""
        made = self.scratch / f"{name}.part"
        made.write_bytes(content)
        made.replace(self.scratch / name)
