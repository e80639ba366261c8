# SPDX-License-Identifier: Apache-2.0
"""The files of a folder that strangers' code is shown with one of them: never the hidden ones.

A module may lie in a home folder, whose hidden files are keys and histories. Rules:
    HIDDEN  a file or folder whose name begins with a dot is not shown
    SHARED  of a folder that is hidden itself, or holds a home or everybody's files, only the file
            that was named and the sources beside it are shown, and no names are listed
    PLAIN   links, pipes and devices are not shown; a link's target may lie anywhere
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from npuforge.untrusted.inputs import lies_within

_SOURCES = frozenset((".py", ".pyi", ".h", ".hpp", ".cpp", ".cc", ".c", ".asc", ".cce"))
_MOST_ENTRIES = 50_000
_MOST_RULES = 2_000
_DEEPEST = 24


@dataclass(frozen=True, slots=True)
class Opened:
    """Paths to read, whole, and folders whose names alone may be listed."""

    readable: list[Path] = field(default_factory=list)
    listed: list[Path] = field(default_factory=list)


def opened(places: Iterable[Path]) -> Opened:
    """Return what to show for files with the folders around them, and for folders."""
    shown = Opened()
    for place in places:
        real = Path(os.path.realpath(place))
        root = real if real.is_dir() else real.parent
        parts = [] if is_shared(root) or root.name.startswith(".") else parts_of(root, _is_plain)
        if not parts:
            shown.readable.extend(_beside(root))
        elif parts != [root]:
            shown.listed.append(root)
        shown.readable.extend(parts)
        if real != root:
            shown.readable.append(real)
    return shown


def parts_of(
    root: Path,
    is_open: Callable[[Path], bool],
    *,
    most_entries: int = _MOST_ENTRIES,
    most_rules: int = _MOST_RULES,
) -> list[Path]:
    """Return whole folders where all is open, single files elsewhere; none if they are many."""
    count = 0

    def look(folder: Path, depth: int) -> tuple[list[Path], bool]:
        nonlocal count
        rules: list[Path] = []
        whole = depth < _DEEPEST
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries if whole else ():
                count += 1
                if count > most_entries:
                    return [], False
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                    below, all_open = look(path, depth + 1)
                    rules += below
                    whole &= all_open
                elif is_open(path):
                    rules.append(path)
                elif not entry.is_symlink():
                    whole = False
        return ([folder], True) if whole else (rules, False)

    rules, _ = look(root, 0)
    return rules if count <= most_entries and len(rules) <= most_rules else []


def is_shared(folder: Path) -> bool:
    """Tell whether a folder is no project's own: it holds a home or is open to everybody."""
    places = [Path(tempfile.gettempdir())]
    with suppress(RuntimeError):  # this user has no home
        places.append(Path.home())
    if any(lies_within(folder, place) for place in places):
        return True
    mode = folder.stat().st_mode
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


def _is_plain(path: Path) -> bool:
    with suppress(OSError):
        return not path.name.startswith(".") and stat.S_ISREG(path.lstat().st_mode)
    return False


def _beside(root: Path) -> list[Path]:
    with suppress(OSError):
        found = [path for path in root.iterdir() if path.suffix in _SOURCES and _is_plain(path)]
        return sorted(found)[:_MOST_RULES]
    return []
