# SPDX-License-Identifier: Apache-2.0
"""A module's file in a process of its own: its graph comes first, answers to questions later.

The file is untrusted: it runs in the sandbox, with limits, and what it leaves is read as data.
Starting torch takes seconds, so one process does everything, while the caller plans and builds.
Both sides talk through files of a scratch folder, which every means of isolation can share.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from npuforge.errors import NpuforgeError, UsageError
from npuforge.printable import one_line
from npuforge.sandbox import Limits, Sandbox
from npuforge.sandbox.messages import Text, decode
from npuforge.spec.complex_pairs import paired
from npuforge.spec.folder_process import FolderProcess
from npuforge.spec.graph import EagerOp, Graph
from npuforge.spec.graph_check import check_graph, check_parameters

_WORKER = Path(__file__).with_name("capture_worker.py")
_LIMITS = Limits(cpu_s=240.0, wall_s=600.0, memory_bytes=8 << 30)
_MOST_JSON = 64 << 20


def operator_name(text: str) -> str:
    """`text` as an operator may be called: `1_Softmax-v2` is `softmax_v2`."""
    name = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)).strip("_").lower()
    return re.sub(r"^[\d_]+", "", name) or "operator"


_Parameters = Annotated[list[Annotated[str, Meta(max_length=2000)]], Meta(max_length=1000)]


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the module is made and called: arguments as Python writes them, with defaults."""

    init: _Parameters
    forward: _Parameters

    def checked(self) -> Signature:
        """Return the signature of names and literals alone: it becomes part of a Python file."""
        return Signature(check_parameters(self.init), check_parameters(self.forward))


class _Captured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    graph: Graph | None = None
    signature: Signature | None = None
    refused: EagerOp | None = None
    error: Text | None = None


class ModuleSession(FolderProcess):
    """`with ModuleSession(file) as session:` starts the process; `graph` waits for its answer.

    `then` names a module of this package with a function `serve(captured, question)`, which answers
    one question in the same process. `refused` are operations that whoever asks has no use for: a
    module that dispatches one is not captured, which for a large network takes a minute.
    """

    limits = _LIMITS
    patience_s = _LIMITS.wall_s

    def __init__(
        self,
        file: Path,
        *,
        then: str | None = None,
        refused: Collection[str] = (),
        sandbox: Sandbox | None = None,
    ) -> None:
        if not file.is_file():
            raise UsageError(f"no such file: {file}")
        super().__init__(file.name, sandbox)
        self.file = file.resolve()
        self._then = then
        self._refused = sorted(refused)
        self._captured: _Captured | None = None

    def __enter__(self) -> ModuleSession:
        self.start()
        return self

    def command(self) -> list[str | Path]:
        return ["-s", "-B", _WORKER]

    def job(self) -> dict[str, Any]:
        return {
            "file": str(self.file),
            "name": operator_name(self.file.stem),
            "then": self._then,
            "refused": self._refused,
        }

    def opened(self) -> Sequence[Path]:
        return [self.file]

    @property
    def graph(self) -> Graph:
        """The graph of the module; `UsageError` says why there is none."""
        found = self._first().graph
        assert found is not None
        return paired(found)

    @property
    def signature(self) -> Signature:
        """How the module is made and called."""
        found = self._first().signature
        assert found is not None
        return found

    def ask(self, question: Any) -> None:
        """Hand over the one question; `wait` for the files of its answer."""
        self.write("question.json", question)

    def _first(self) -> _Captured:
        if self._captured is None:
            try:
                self._captured = self._received(self.wait("graph.json", _MOST_JSON))
            except NpuforgeError as error:
                reason = str(error).removeprefix(f"{self.file.name}: ")
                self._captured = _Captured(error=reason)
        if self._captured.error is not None:
            raise UsageError(f"{self.file.name} could not be captured: {self._captured.error}")
        if self._captured.refused is not None:
            found = self._captured.refused
            shapes = " and ".join(str(list(tensor.shape)) for tensor in found.inputs)
            raise UsageError(f"{found.op} of {shapes}: no plan for this operation yet")
        return self._captured

    def _received(self, text: bytes) -> _Captured:
        """Return what the process sent, checked; nobody asks it a second time."""
        told = decode(text, _Captured, "the captured graph")
        if told.error is not None:
            return _Captured(error=one_line(told.error))
        if told.refused is not None:
            return told
        if told.graph is None or told.signature is None:
            return _Captured(error="its process sent no graph")
        graph = check_graph(told.graph, operator_name(self.file.stem))
        return _Captured(graph, told.signature.checked())
