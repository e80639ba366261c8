# SPDX-License-Identifier: Apache-2.0
"""The files that are counted: what they are, and the folder that each belongs to."""

from __future__ import annotations

import ast
import io
import subprocess
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TypeVar

_Node = TypeVar("_Node", bound=ast.AST)
PACKAGE = "src/npuforge"
AREAS = ("src", "tests", "tools", "benchmarks", "examples", "docs")
_LANGUAGES = {
    ".py": "Python", ".cpp": "C++", ".h": "C++", ".hpp": "C++", ".asc": "C++", ".md": "pages",
}  # fmt: skip
_DATA = (".toml", ".csv", ".sql", ".j2", ".css", ".js", ".html", ".sh", ".json", ".jsonl", ".txt")
_TASKS = f"{PACKAGE}/bench/suites/forge/level"
_PROGRAMS = "examples/tile/"


@dataclass(frozen=True)
class Source:
    """A text file; `path` is relative to the repository."""

    path: str
    text: str

    @property
    def area(self) -> str:
        """The first folder of the path."""
        return self.path.split("/")[0]

    @property
    def language(self) -> str:
        """The column that its lines are counted in."""
        if self.path.startswith(_PROGRAMS):
            return "tile programs"
        if self.path.startswith(_TASKS):
            return "tasks"
        return _LANGUAGES.get(PurePosixPath(self.path).suffix, "data")

    @property
    def is_code(self) -> bool:
        """Return whether this is Python of the package that is written for it."""
        return self.path.startswith(f"{PACKAGE}/") and self.language == "Python"

    @property
    def folders(self) -> list[str]:
        """The folders of the package that it lies in, two levels at most; "" is the package."""
        parts = self.path.removeprefix(f"{PACKAGE}/").split("/")[:-1]
        return ["/".join(parts[:depth]) for depth in range(min(len(parts), 2) + 1)]

    @property
    def module(self) -> str:
        """The name that other modules import it by."""
        name = self.path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        return name.removesuffix(".__init__")

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def nodes(self, kind: type[_Node]) -> Sequence[_Node]:
        """Return the nodes of the tree that are of a kind."""
        return self._by_kind.get(kind, [])  # type: ignore[return-value]

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        """The nodes by their kinds: the tree is walked once for all counters."""
        result: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in ast.walk(self.tree):
            result[type(node)].append(node)
        return result


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, and what is there."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def sources(root: Path) -> list[Source]:
    """Read the text files of the areas and the README, in the order of their paths."""
    files = [root / "README.md", *(file for area in AREAS for file in (root / area).rglob("*"))]
    return sorted(
        (
            Source(file.relative_to(root).as_posix(), file.read_text("utf-8"))
            for file in files
            if file.suffix in (*_LANGUAGES, *_DATA) and "__pycache__" not in file.parts
        ),
        key=lambda source: source.path,
    )


@contextmanager
def checked_out(root: Path, commit: str) -> Iterator[Path]:
    """Lay the files of a commit into a folder of their own."""
    archive = subprocess.run(
        ["git", "-C", str(root), "archive", commit], check=True, capture_output=True
    ).stdout
    with tempfile.TemporaryDirectory(prefix="counters-") as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            packed.extractall(folder, filter="data")
        yield Path(folder)
