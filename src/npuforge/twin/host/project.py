# SPDX-License-Identifier: Apache-2.0
"""Finds the host and kernel sources of an operator project.

Understood layouts, each with the folders `op_host` and `op_kernel`:

    PROJECT/                       a generated project, or one operator of an operator library
    TASK/answer/0, TASK/question   a benchmark task; what an answer lacks comes from the question
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.sandbox import Sandbox
from npuforge.twin.host.description import Operator
from npuforge.twin.project_files import SOURCE_LIMIT, ProjectFiles
from npuforge.twin.toolchain import BuildResult, Toolchain
from npuforge.untrusted.inputs import is_plain_file, lies_within, read_input

_SUFFIXES = (".cpp", ".cc", ".cxx")
# The call layer above an operator (aclnn functions) needs the vendor's runtime and says nothing
# about the operator itself.
_CALL_LAYER_FOLDERS = {"op_api", "op_graph", "tests", "examples"}
_CALL_LAYER_INCLUDE = re.compile(
    rb'^\s*#\s*include\s*["<](opdev/|aclnn/aclnn_base\.h|aclnn_kernels/|aclnnop/)', re.MULTILINE
)
_MOST_SOURCES = 1000
_ENTRY = re.compile(rb"__global__")


@dataclass(frozen=True, slots=True)
class OperatorProject:
    """Where the sources of one project are."""

    root: Path
    host_folder: Path
    kernel_folder: Path
    host_sources: tuple[Path, ...]
    kernel_sources: tuple[Path, ...]
    opened: tuple[Path, ...] = ()  # folders outside that the user lets its sources include from

    @staticmethod
    def open(path: Path | str, include_dirs: Sequence[Path] = ()) -> OperatorProject:
        """The project at `path`: its root, its `op_host` or `op_kernel`, or a benchmark task."""
        start = Path(os.path.realpath(path))
        if not start.exists():
            raise UsageError(f"no such operator project: {start}")
        if start.is_file():
            start = start.parent
        if start.name in ("op_host", "op_kernel"):
            start = start.parent
        places = [place for place in _candidates(start) if place.is_dir()]
        host = _first("op_host", places)
        kernel = _first("op_kernel", places)
        if host is None or kernel is None:
            missing = "op_host" if host is None else "op_kernel"
            raise UsageError(f"{start} is no operator project: it has no {missing} folder")
        sources = tuple(source for source in _sources(host) if not _is_call_layer(host, source))
        if not sources:
            raise UsageError(f"{host} has no host sources")
        return OperatorProject(
            root=kernel.parent,
            host_folder=host,
            kernel_folder=kernel,
            host_sources=sources,
            kernel_sources=tuple(
                source
                for source in _sources(kernel)
                if _ENTRY.search(read_input(source, SOURCE_LIMIT))
            ),
            opened=tuple(Path(os.path.abspath(folder)) for folder in include_dirs),
        )

    @property
    def files(self) -> ProjectFiles:
        """The files that the project's sources may include."""
        roots = dict.fromkeys((self.root, self.host_folder.parent))
        return ProjectFiles.of(*roots, opened=self.opened)

    @property
    def include_dirs(self) -> list[Path]:
        """Folders the project's own includes are found in."""
        nested = sorted({source.parent for source in self.host_sources})
        folders = [self.host_folder, *nested, self.host_folder.parent, self.root]
        return list(dict.fromkeys([*folders, self.kernel_folder, *self.opened]))

    def build_host(
        self, *, toolchain: Toolchain | None = None, sandbox: Sandbox | None = None
    ) -> BuildResult:
        """Compiles all host sources into one library."""
        return (toolchain or Toolchain.find()).compile(
            self.host_sources,
            kind="host",
            name="host",
            include_dirs=self.include_dirs,
            root=_common(self.host_folder, self.root),
            files=self.files,
            sandbox=sandbox,
        )

    def kernel_source(self, operator: Operator) -> Path:
        """The source of the operator's kernel: named after it, or the only one with an entry."""
        named = {operator.kernel}
        for settings in operator.socs.values():
            named |= {settings[key] for key in ("opFile.value",) if key in settings}
        for source in self.kernel_sources:
            if source.stem in named:
                return source
        if len(self.kernel_sources) == 1:
            return self.kernel_sources[0]
        found = ", ".join(source.name for source in self.kernel_sources) or "none"
        raise UsageError(f"no kernel {operator.kernel}.cpp in {self.kernel_folder}; found: {found}")

    def kernel_entry(self, operator: Operator) -> str:
        """The name of the kernel function."""
        for settings in operator.socs.values():
            if "opInterface.value" in settings:
                return settings["opInterface.value"]
        return operator.kernel


def _candidates(start: Path) -> list[Path]:
    """Folders that may hold op_host and op_kernel, the preferred one first."""
    places = [start]
    if (start / "answer").is_dir():
        inside = (place for place in (start / "answer").iterdir() if lies_within(start, place))
        places += sorted(inside)
    task = start.parent.parent if start.parent.name == "answer" else start
    return [*places, task / "question"]


def _first(name: str, places: Iterable[Path]) -> Path | None:
    """Return the first folder of that name that has sources and really lies where it was found."""
    folders = (place / name for place in places if lies_within(place, place / name))
    return next((folder for folder in folders if _sources(folder)), None)


def _sources(folder: Path) -> list[Path]:
    """C++ sources below `folder`; hidden folders hold editors' copies of them."""
    found = sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES)[:_MOST_SOURCES]
    return [
        path
        for path in found
        if not _is_hidden(path.relative_to(folder)) and is_plain_file(path, within=folder)
    ]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_call_layer(folder: Path, source: Path) -> bool:
    if source.name.startswith("aclnn_"):
        return True
    if _CALL_LAYER_FOLDERS.intersection(source.relative_to(folder).parts[:-1]):
        return True
    return _CALL_LAYER_INCLUDE.search(read_input(source, SOURCE_LIMIT)) is not None


def _common(host: Path, root: Path) -> Path:
    """The folder both sides lie in."""
    while not host.is_relative_to(root):
        root = root.parent
    return root
