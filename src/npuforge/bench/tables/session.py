# SPDX-License-Identifier: Apache-2.0
"""The process that runs a table's adapter in the sandbox, and answers requests one by one.

Starting torch takes seconds, so one process serves a whole table. Both sides talk through files of
a scratch folder; what the process leaves is read as data.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from npuforge.bench.tables.table import Table
from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.printable import one_line
from npuforge.sandbox import GIB, Limits, Sandbox
from npuforge.sandbox.messages import Text, decode
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.sandbox.tensor_files import TensorHeader, read_tensor
from npuforge.spec.complex_pairs import paired
from npuforge.spec.folder_process import FolderProcess
from npuforge.spec.graph import EagerOp, Graph
from npuforge.spec.graph_check import check_graph
from npuforge.spec.session import Signature

_WORKER = Path(__file__).with_name("worker.py")
# Whoever runs the attempt limits its time; this only ends what nobody waits for.
_LIMITS = Limits(cpu_s=7200.0, wall_s=14400.0, memory_bytes=12 * GIB)
_PATIENCE_S = 3600.0  # a reference on the CPU may take minutes
_MOST_JSON = 64 << 20
_MOST_TENSOR = 8 * GIB
_T = TypeVar("_T")

_FileName = Annotated[str, Meta(pattern=r"^(source|wanted|golden)[0-9]{1,5}\.bin\Z")]
_Key = Annotated[str, Meta(max_length=1 << 20)]
_Figure = Annotated[str, Meta(max_length=100)]


class Described(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row as far as programs care: all but the extents in `key`, tensors in order."""

    key: _Key = ""
    tensors: Annotated[list[TensorHeader], Meta(max_length=10_000)] = []
    error: Text | None = None


class File(TensorHeader, frozen=True, forbid_unknown_fields=True):
    """A tensor that the process left in the file of that name."""

    file: _FileName


class Made(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row's tensors: sources of its graph, the reference's results, those in double precision."""

    sources: Annotated[list[File], Meta(max_length=10_000)]
    wanted: Annotated[list[File], Meta(max_length=10_000)]
    golden: Annotated[list[File | None], Meta(max_length=10_000)]


class Checked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The suite's own word on a row."""

    passed: bool
    message: Text = ""
    figures: Annotated[dict[_Figure, float | None], Meta(max_length=100)] = {}


class _Captured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    graph: Graph
    signature: Signature


class _Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    answer: msgspec.Raw = msgspec.Raw()
    error: Text | None = None


class RequestError(UsageError):
    """The adapter, the reference or the checker failed on a request."""


class TableSession(FolderProcess):
    """`with TableSession(table) as session:`; requests that fail raise `RequestError`."""

    failure = RequestError
    limits = _LIMITS
    patience_s = _PATIENCE_S

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

    def opened(self) -> Sequence[Path]:
        return [self.table.adapter, self.table.place, *self.table.readable]

    def describe(self) -> list[Described]:
        """Every row's signature; a row whose arguments cannot be made says why."""
        found = self._request({"do": "describe"}, list[Described])
        if len(found) != len(self.table.rows):
            raise RequestError(f"{self.table.name}: {len(found)} of {len(self.table.rows)} rows")
        return found

    def capture(self, row: int) -> tuple[Graph, Signature]:
        """The reference's graph, with the row as its example."""
        found = self._request({"do": "capture", "row": row}, _Captured)
        try:
            graph = check_graph(found.graph, self.table.name)
            return paired(graph), found.signature.checked()
        except HostileFileError as error:
            raise RequestError(f"{self.table.name}: {error}") from None

    def prove(self, row: int, question: Any) -> SharedFolder:
        """Have the reference of a captured row answer cases; return where the answers come."""
        name = f"proof{row}"
        try:
            folder = self.folder.subfolder(name)
        except HostileFileError as error:
            raise RequestError(f"{self.table.name}: {error}") from None
        self._request({"do": "prove", "row": row, "question": question, "folder": name}, bool)
        return folder

    def make(self, row: int, captured: int | None) -> Made:
        """A row's tensors, as the graph captured from row `captured` takes them; None: sources are
        the tensors among the arguments."""
        return self._request({"do": "make", "row": row, "captured": captured}, Made)

    def check(self, row: int, given: Sequence[HostTensor]) -> Checked:
        """The suite's check of results for the row made last."""
        files = []
        for number, tensor in enumerate(given):
            name = f"given{number}.bin"
            self._put(name, tensor.to_bytes())
            files.append({"file": name, "shape": tensor.shape, "dtype": tensor.dtype.name})
        checked = self._request({"do": "check", "row": row, "given": files}, Checked)
        return Checked(checked.passed, one_line(checked.message), checked.figures)

    def eager(self, row: int) -> list[EagerOp]:
        """What eager PyTorch dispatches for the row; nothing where the reference needs data."""
        return self._request({"do": "eager", "row": row}, list[EagerOp])

    def read(self, item: File) -> HostTensor:
        """A tensor that the process left; its file goes."""
        try:
            tensor = read_tensor(self.folder, item.file, item, _MOST_TENSOR)
        except HostileFileError as error:
            raise RequestError(f"{self.table.name}: a damaged tensor: {error}") from None
        self.folder.remove(item.file)
        return tensor

    def _put(self, name: str, content: bytes) -> None:
        try:
            self.folder.write(name, content)
        except HostileFileError as error:
            raise RequestError(f"{self.table.name}: {error}") from None

    def _request(self, content: dict[str, Any], kind: type[_T]) -> _T:
        number = self._asked
        self._asked += 1
        self.write(f"request{number}.json", content)
        text = self.wait(f"reply{number}.json", _MOST_JSON)
        try:
            reply = decode(text, _Reply, "its reply")
            if reply.error is not None:
                raise RequestError(one_line(reply.error))
            return decode(memoryview(reply.answer), kind, "its answer")
        except HostileFileError as error:
            raise RequestError(f"{self.table.name}: {error}") from None
