# SPDX-License-Identifier: Apache-2.0
"""The process that runs a table's adapter in the sandbox, and answers requests one by one.

Starting torch takes seconds, so one process serves a whole table. Both sides talk through files of
a scratch folder; what the process leaves is read as data.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from npuforge.bench.tables.table import Table
from npuforge.dtypes import HostTensor, find
from npuforge.errors import UsageError
from npuforge.sandbox import GIB, Limits, Sandbox
from npuforge.spec.complex_pairs import paired
from npuforge.spec.folder_process import FolderProcess
from npuforge.spec.graph import EagerOp, Graph
from npuforge.spec.session import Signature
from npuforge.twin.session_result import read_back

_WORKER = Path(__file__).with_name("worker.py")
# Whoever runs the attempt limits its time; this only ends what nobody waits for.
_LIMITS = Limits(cpu_s=7200.0, wall_s=14400.0, memory_bytes=12 * GIB)
_MOST_JSON = 64 << 20
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


class TableSession(FolderProcess):
    """`with TableSession(table) as session:`; requests that fail raise `RequestError`."""

    failure = RequestError
    limits = _LIMITS

    def __init__(self, table: Table, sandbox: Sandbox | None = None) -> None:
        super().__init__(table.name, sandbox)
        self.table = table
        self._asked = 0

    def __enter__(self) -> TableSession:
        self.start()
        return self

    def command(self) -> list[str | Path]:
        return ["-I", "-B", _WORKER]

    def job(self) -> dict[str, Any]:
        table = self.table
        return {
            "adapter": str(table.adapter.resolve()),
            "place": str(table.place.resolve()),
            "name": table.name,
            "rows": list(table.rows),
        }

    def readable(self) -> Sequence[Path]:
        place = self.table.place.resolve()
        return [
            self.table.adapter.resolve().parent,
            place if place.is_dir() else place.parent,
            *(folder.resolve() for folder in self.table.readable),
        ]

    def describe(self) -> list[Described]:
        """Every row's signature; a row whose arguments cannot be made says why."""
        return self._request({"do": "describe"}, list[Described])

    def capture(self, row: int) -> tuple[Graph, Signature]:
        """The reference's graph, with the row as its example."""
        found = self._request({"do": "capture", "row": row}, _Captured)
        return paired(found.graph), found.signature

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

    def _request(self, content: dict[str, Any], kind: type[_T]) -> _T:
        number = self._asked
        self._asked += 1
        self.write(f"request{number}.json", content)
        text = self.wait(f"reply{number}.json", _MOST_JSON)
        try:
            reply = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
            if "error" in reply:
                raise RequestError(msgspec.json.decode(reply["error"], type=str))
            return msgspec.json.decode(reply["answer"], type=kind)
        except (msgspec.DecodeError, KeyError) as error:
            raise RequestError(f"{self.table.name}: a damaged answer: {error}") from None
