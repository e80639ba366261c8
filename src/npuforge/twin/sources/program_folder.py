# SPDX-License-Identifier: Apache-2.0
"""The folders of a program that is judged by a command which runs after it.

Four copies keep the judge apart from the judged (trusted code writes only into folders that no
other process has touched):
    MADE     the user's folder, in which the set-up command has run
    SEEN     what the program gets: MADE without reference data, scripts and old results
    JUDGED   MADE without old results, and the new data that the program left in SEEN
The judging command runs in JUDGED. A file that was there before the program is never replaced, and
no code of the program comes beside the judge's, which might import it.

    reference data   names with `golden`, `expected`, `wanted` or `reference` in them, and what
                     the user names with `--golden`
    scripts          `.py` and `.sh`: among them is the judge
    old results      everything else in the folder `output` at the top
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from npuforge.errors import UsageError
from npuforge.sandbox import GIB
from npuforge.untrusted.inputs import is_plain_file

_GOLDEN = re.compile(
    r"golden|(?:^|[^a-z])(?:expected|wanted|references?)(?:[^a-z]|$)", re.IGNORECASE
)
_SCRIPTS = (".py", ".sh", ".pyc")
_CODE = (*_SCRIPTS, ".so", ".pyd", ".pth", ".zip", ".egg")
_RESULTS = "output"
_INPUTS = "input"
_SKIPPED = {".git", "build", "__pycache__"}
_MOST_BYTES = 2 * GIB
_MOST_FILES = 20_000
_DEEPEST = 32
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Golden:
    """Tells what of a program's folder is the judge's alone; `patterns` are the user's."""

    patterns: tuple[str, ...] = ()

    def is_golden(self, path: PurePosixPath) -> bool:
        """Tell whether `path`, relative to the program's folder, is reference data."""
        if any(_GOLDEN.search(part) for part in path.parts):
            return True
        return any(
            fnmatch(str(place), pattern)
            for pattern in self.patterns
            for place in (path, *path.parents)
        )

    def is_judges(self, path: PurePosixPath) -> bool:
        """Tell whether the program must not see the file."""
        return path.suffix in _SCRIPTS or self.is_golden(path)

    def is_old_result(self, path: PurePosixPath) -> bool:
        """Tell whether an earlier run left the file."""
        return path.parts[0] == _RESULTS and not self.is_judges(path)


def check_command(command: str, folder: Path, golden: Golden) -> None:
    """Refuse a judging command that names an old file of which nobody can say what it is."""
    try:
        words = shlex.split(command)
    except ValueError:
        return
    for word in words:
        path = PurePosixPath(os.path.normpath(word))
        if path.is_absolute() or path.parts[:1] in ((), ("..",), (_INPUTS,), (_RESULTS,)):
            continue
        if not golden.is_judges(path) and is_plain_file(folder / path):
            raise UsageError(
                f"--verify names {path}, which is there before the program runs: name it with "
                "--golden if it is reference data, move it to input/ if the program reads it, "
                "delete it if it is an old result"
            )


def copy_folder(folder: Path, target: Path) -> None:
    """Copy the user's folder without builds, links and hidden entries.

    Folders that the samples expect exist afterwards.
    """
    for path, file in _plain_files(folder, skipped=_SKIPPED):
        _put(file, target / path)
    for name in (_INPUTS, _RESULTS):
        (target / name).mkdir(parents=True, exist_ok=True)


def copy_plain(folder: Path, target: Path) -> None:
    """Copy plain files of bounded size and number, without hidden folders."""
    target.mkdir(parents=True)
    for path, file in _plain_files(folder, skipped=(".git",)):
        _put(file, target / path)


def show_to_program(made: Path, seen: Path, golden: Golden | None) -> None:
    """Copy what the program gets; without a judge (None) that is everything."""
    for path in _folders(made):
        (seen / path).mkdir(parents=True, exist_ok=True)
    for path, file in _plain_files(made):
        if golden is None or not (golden.is_judges(path) or golden.is_old_result(path)):
            _put(file, seen / path)


def show_to_judge(made: Path, seen: Path, judged: Path, golden: Golden) -> list[str]:
    """Copy what the judging command gets; return the old files that the program changed."""
    changed: list[str] = []
    for path in _folders(made):
        (judged / path).mkdir(parents=True, exist_ok=True)
    for path, file in _plain_files(made):
        if not golden.is_old_result(path):
            _put(file, judged / path)
    for path, file in _plain_files(seen):
        place = judged / path
        if os.path.lexists(place):
            if not _same(file, place):
                changed.append(str(path))
        elif not golden.is_judges(path) and not _is_code(path):
            with suppress(FileExistsError, NotADirectoryError):  # a file has a folder's name
                _put(file, place)
    return changed


def _is_code(path: PurePosixPath) -> bool:
    """Tell whether an interpreter might load the file, or read it as its settings."""
    return bool(set(path.suffixes) & set(_CODE)) or any(part.startswith(".") for part in path.parts)


def _plain_files(
    root: Path, skipped: Collection[str] = ()
) -> Iterator[tuple[PurePosixPath, BinaryIO]]:
    """Yield each regular file below `root`, opened; links are not followed, and all is bounded."""
    files = octets = 0
    for path, folder in _opened_folders(root, skipped):
        for name in _names(folder):
            try:
                handle = os.open(name, _FILE, dir_fd=folder)
            except OSError:
                continue  # a link, a socket, a file that its writer made unreadable
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                os.close(handle)
                continue
            with os.fdopen(handle, "rb") as file:
                files += 1
                octets += status.st_size
                if octets > _MOST_BYTES or files > _MOST_FILES:
                    raise UsageError(
                        f"{root} holds over {_MOST_BYTES >> 30} GiB or {_MOST_FILES} files; "
                        "put the program in a folder of its own"
                    )
                yield path / name, file


def _folders(root: Path) -> list[PurePosixPath]:
    return [path for path, _ in _opened_folders(root)]


def _opened_folders(
    root: Path, skipped: Collection[str] = ()
) -> Iterator[tuple[PurePosixPath, int]]:
    """Yield each folder from `root` down with a descriptor that is open until the next one.

    With names to be `skipped`, hidden folders are skipped too.
    """
    waiting = [PurePosixPath()]
    count = 0
    while waiting:
        path = waiting.pop()
        handle = _open_folder(root, path)
        if handle is None:
            continue
        try:
            yield path, handle
            for name in _names(handle) if len(path.parts) < _DEEPEST else ():
                if skipped and (name in skipped or name.startswith(".")):
                    continue
                with suppress(OSError):
                    status = os.stat(name, dir_fd=handle, follow_symlinks=False)
                    count += stat.S_ISDIR(status.st_mode)
                    if stat.S_ISDIR(status.st_mode) and count < _MOST_FILES:
                        waiting.append(path / name)
        finally:
            os.close(handle)


def _open_folder(root: Path, path: PurePosixPath) -> int | None:
    handle = os.open(root, _FOLDER)
    for part in path.parts:
        try:
            below = os.open(part, _FOLDER, dir_fd=handle)
        except OSError:
            return None
        finally:
            os.close(handle)
        handle = below
    return handle


def _names(folder: int) -> Sequence[str]:
    with os.scandir(folder) as entries:
        names = [entry.name for entry, _ in zip(entries, range(_MOST_FILES + 1), strict=False)]
    return sorted(names)


def _put(file: BinaryIO, target: Path) -> None:
    """Copy an opened file to a new one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as copy:
        shutil.copyfileobj(file, copy, _PIECE)
    target.chmod(0o755 if os.fstat(file.fileno()).st_mode & stat.S_IXUSR else 0o644)


def _same(file: BinaryIO, place: Path) -> bool:
    if not place.is_file() or os.fstat(file.fileno()).st_size != place.stat().st_size:
        return False
    with place.open("rb") as other:
        while piece := file.read(_PIECE):
            if other.read(_PIECE) != piece:
                return False
    return True
