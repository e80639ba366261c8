# SPDX-License-Identifier: Apache-2.0
"""What the module itself computes for each case: asked for early, read when the proof needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, TypeVar

import msgspec
from msgspec import Meta

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.generate.cases import (
    ProofCase,
    Sizes,
    fewer_rows,
    free_symbols,
    shape_of,
)
from npuforge.printable import one_line
from npuforge.sandbox import GIB, MIB
from npuforge.sandbox.messages import Text, decode
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.sandbox.tensor_files import TensorHeader, read_tensor
from npuforge.spec.graph import Graph
from npuforge.spec.session import Signature

WORKER = "npuforge.generate.reference_worker"
_T = TypeVar("_T")
_WHOLE = ("int64", "int32")
_MOST_JSON = 16 * MIB
_MOST_TENSORS = 4 * GIB  # of an answer, all together


class ModuleProcess(Protocol):
    """A module that was captured and can be asked for results (`ModuleSession`, `LiveModule`)."""

    @property
    def folder(self) -> SharedFolder: ...
    @property
    def graph(self) -> Graph: ...
    @property
    def signature(self) -> Signature: ...
    def ask(self, question: Any) -> None: ...
    def wait(self, name: str, limit: int) -> bytes: ...


# Where the process is to have left a tensor: in a file that the trusted side names.
_FileName = Annotated[str, Meta(pattern=r"^(case[0-9]{1,6}\.[a-z]{1,9}|given)[0-9]{1,6}\.bin\Z")]


class _File(TensorHeader, frozen=True, forbid_unknown_fields=True):
    file: _FileName


_Files = Annotated[list[_File], Meta(max_length=10_000)]
_SomeFiles = Annotated[list[_File | None], Meta(max_length=10_000)]


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sources: _Files = []
    results: _Files = []
    golden: _SomeFiles = []
    message: Text | None = None
    error: Text | None = None


class _Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sources: _SomeFiles = []


@dataclass(frozen=True, slots=True)
class Answer:
    """Tensors before and after the call, by the graph's order of sources and results.

    `golden` are the results in double precision, where there are such. `error` says why the module
    has no results for the case; `note` how its inputs differ from what was asked for.
    """

    sources: list[HostTensor]
    results: list[HostTensor]
    golden: list[HostTensor | None]
    note: str | None = None
    error: str | None = None


class References:
    """The answers of a module to the cases; each is read when asked for."""

    def __init__(self, module: ModuleProcess, cases: Sequence[ProofCase]) -> None:
        self._module = module
        self._cases = cases
        module.ask(question(module.graph, cases))

    def answer(self, number: int) -> Answer:
        """The answer to the case of that number, as soon as it is there."""
        text = self._module.wait(f"case{number}.json", _MOST_JSON)
        raw = _decoded(text, _Answer)
        if raw.error is not None:
            return Answer([], [], [], error=one_line(raw.error))
        graph = self._module.graph
        counts = (len(raw.sources), len(raw.results), len(raw.golden))
        if counts != (len(graph.sources), len(graph.results), len(graph.results)):
            raise UsageError("the module's process left an answer of other tensors than asked for")
        self._check(raw, self._cases[number])
        return Answer(
            [self._read(item) for item in raw.sources],
            [self._read(item) for item in raw.results],
            [self._read(item) if item is not None else None for item in raw.golden],
            one_line(raw.message) if raw.message is not None else None,
        )

    def given(self) -> dict[str, HostTensor]:
        """The module's own whole numbers at the sizes asked for, by the graph's sources."""
        graph = self._module.graph
        if _given(graph) is None:
            return {}
        raw = _decoded(self._module.wait("given.json", _MOST_JSON), _Given)
        sizes = fewer_rows(graph, None)
        return {
            source.name: self._read(item)
            for source, item in zip(graph.sources, raw.sources, strict=False)
            if item is not None and item.shape == shape_of(source.type, sizes)
        }

    def _check(self, raw: _Answer, case: ProofCase) -> None:
        """Refuse tensors of other types or sizes than asked for, and more than can be held."""
        graph = self._module.graph
        types = {source.name: source.type for source in graph.sources}
        types |= {node.name: node.type for node in graph.nodes if node.types and node.types[0]}
        wanted = [source.type for source in graph.sources]
        wanted += [types[result.name] for result in graph.results]
        told = [*raw.sources, *raw.results]
        for item, kind in zip(told, wanted, strict=True):
            if item.dtype != kind.dtype:
                raise UsageError(f"the module's process left {item.dtype} for {kind.text}")
        shapes = [item.shape for item in told]
        if not any(shapes == [shape_of(kind, sizes) for kind in wanted] for sizes in case.options):
            raise UsageError("the module's process left tensors of other sizes than asked for")
        for result, golden in zip(raw.results, raw.golden, strict=True):
            if golden is not None and golden.shape != result.shape:
                raise UsageError("the module's process left two shapes for one result")
        left = _MOST_TENSORS
        for item in (*told, *filter(None, raw.golden)):
            left -= self._size(item, left)

    @staticmethod
    def _size(item: _File, limit: int) -> int:
        try:
            return item.size(limit)
        except HostileFileError as error:
            raise UsageError(f"the module's process left too much: {error}") from None

    def _read(self, item: _File) -> HostTensor:
        try:
            return read_tensor(self._module.folder, item.file, item, _MOST_TENSORS)
        except HostileFileError as error:
            raise UsageError(f"the module's process left a damaged tensor: {error}") from None


def _decoded(text: bytes, kind: type[_T]) -> _T:
    try:
        return decode(text, kind, "the answer of the module's process")
    except HostileFileError as error:
        raise UsageError(str(error)) from None


def question(graph: Graph, cases: Sequence[ProofCase]) -> dict[str, Any]:
    """The cases as the module's process is asked them."""
    by_name = {source.name: source for source in graph.sources}
    results: list[dict[str, Any]] = []
    for result in graph.results:
        target = result.mutates
        if target is None:
            results.append({"output": True})
        elif target in by_name and by_name[target].position is not None:
            results.append({"input": by_name[target].position})
        else:
            results.append({"state": target})
    return {
        "given": _given(graph),
        "sources": [{"position": s.position, "target": s.target} for s in graph.sources],
        "results": results,
        "cases": [_case(graph, case) for case in cases],
    }


def _given(graph: Graph) -> dict[str, Any] | None:
    """The sizes asked for, where the module takes whole numbers: they may decide the time."""
    whole = [s for s in graph.sources if s.position is not None and s.type.dtype in _WHOLE]
    return _option(graph, fewer_rows(graph, None)) if whole else None


def _case(graph: Graph, case: ProofCase) -> dict[str, Any]:
    return {
        "options": [_option(graph, sizes) for sizes in case.options],
        "seed": case.seed,
        "values": case.values,
        "perturbed": case.perturbed,
    }


def _option(graph: Graph, sizes: Sizes) -> dict[str, Any]:
    """Shapes by position, and the numbers of the example that change."""
    numbers: dict[int, int] = {}
    for symbol in free_symbols(graph):
        new = sizes[symbol.name]
        numbers[symbol.example] = min(new, numbers.get(symbol.example, new))
    shapes = {
        source.position: shape_of(source.type, sizes)
        for source in graph.sources
        if source.position is not None
    }
    return {"shapes": shapes, "numbers": numbers}
