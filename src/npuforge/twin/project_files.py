# SPDX-License-Identifier: Apache-2.0
"""The files that a project under test may include: chosen by the trusted side, never by a source.

Rules:
    ROOT    a project reads its root and the folders that the user opened to it (`--include`)
    KIND    of its root it reads sources and headers; data, scripts and hidden files stay closed
    LOOSE   in a folder that also holds the user's home or everybody's files, only what lies beside
            the source is read
    LINKS   a link counts as the file it leads to
The compiler's sandbox shows what `readable` returns, whatever a source's text says.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.untrusted.inputs import MIB, is_plain_file, lies_within, read_input
from npuforge.untrusted.open_folder import is_shared, parts_of

SOURCE_LIMIT = 2 * MIB
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tpp", ".tcc", ".def")
SUFFIXES = frozenset((*_HEADERS, ".cpp", ".cc", ".cxx", ".c", ".c++", ".asc", ".cce"))
_MOST_ENTRIES = 20_000
_MOST_RULES = 2_000


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """Sources below `roots`, the project's own folders, and all files of `opened` folders.

    `closed` are patterns of paths relative to a root that are out of reach although they look like
    sources.
    """

    roots: tuple[Path, ...]
    opened: tuple[Path, ...] = ()
    closed: tuple[str, ...] = ()

    @staticmethod
    def of(*roots: Path, opened: Sequence[Path] = (), closed: Sequence[str] = ()) -> ProjectFiles:
        """Return the files of a project; an opened folder must exist."""
        for folder in opened:
            if not folder.is_dir():
                raise UsageError(f"no such folder to include from: {folder}")
        return ProjectFiles(_real(roots), _real(opened), tuple(closed))

    def holds(self, path: Path) -> bool:
        """Tell whether `path` leads to a plain file that the project may read."""
        if not is_plain_file(path):
            return False
        real = Path(os.path.realpath(path))
        if any(real.is_relative_to(folder) for folder in self.opened):
            return True
        return any(real.is_relative_to(root) and self._is_open(real, root) for root in self.roots)

    def read(self, path: Path) -> bytes:
        """Return the content of a source; raise `UsageError` for what the project may not read."""
        self.check(path)
        return read_input(path, SOURCE_LIMIT)

    def check(self, path: Path) -> None:
        """Raise `UsageError` if the project may not read `path`."""
        if not is_plain_file(path):
            read_input(path, 0)  # says why it cannot be read
        if not self.holds(path):
            raise UsageError(
                f"{path} leads out of the project {self.roots[0]}, or is no source or header; "
                "--include FOLDER opens a folder to it"
            )

    def refusal(self, name: str, folder: Path) -> str | None:
        """Return why an include of `name` in a file in `folder` is refused; None if it is not.

        The answer depends on the text and on what lies in the project, not on what lies outside.
        """
        advice = "--include FOLDER opens a folder to it"
        place = Path(os.path.normpath(folder / name))
        if not any(place.is_relative_to(one) for one in (*self.roots, *self.opened)):
            return f"{name} lies outside of the project's folder: {advice}"
        if os.path.lexists(place) and not self.holds(place):
            if not any(lies_within(root, place) for root in self.roots):
                return f"{name} leads out of the project's folder: {advice}"
            return f"{name} is not a source or header of the project: {advice}"
        return None

    def readable(self) -> list[Path]:
        """Return the folders and files to show to a compiler."""
        found = list(self.opened)
        for root in self.roots:
            below = (
                [] if is_shared(root) else parts_of(root, self.holds, most_entries=_MOST_ENTRIES)
            )
            found += below or self._beside(root)
        return found

    def _is_open(self, path: Path, root: Path) -> bool:
        relative = path.relative_to(root)
        if path.suffix not in SUFFIXES or any(part.startswith(".") for part in relative.parts):
            return False
        return not any(fnmatch(str(relative), pattern) for pattern in self.closed)

    def _beside(self, root: Path) -> list[Path]:
        return sorted(path for path in root.iterdir() if self.holds(path))[:_MOST_RULES]


def _real(folders: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(Path(os.path.realpath(folder)) for folder in folders)
