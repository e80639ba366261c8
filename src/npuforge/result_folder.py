# SPDX-License-Identifier: Apache-2.0
"""Folders of results, which replace only what npuforge itself wrote there.

A folder holds a list of its files with their digests. It is replaced if all that it holds is on the
list and unchanged, or by force; a folder without such a list is never touched. The new folder is
made beside the old one and takes its place in one step, so that a kill leaves either of them. What
a killed process left beside is removed by the next one that writes there.

    <out>/.npuforge.json                         the list
    <parent>/.<name>.npuforge-<token>/           work of a process that holds a lock on it
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from npuforge.errors import UsageError
from npuforge.fileformat import RESULT_FOLDER

_LIST = ".npuforge.json"
_LIST_BYTES = 4 << 20
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
_NO_EXCHANGE = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


@dataclass(frozen=True, slots=True)
class _Written:
    """The list: digests of the files, by their paths."""

    files: dict[str, str]


def check_free(out: Path, *, force: bool = False) -> None:
    """Refuse a place whose content would be lost: what npuforge did not write, or was changed."""
    with _explained(out):
        if not os.path.lexists(out):
            return
        if not out.is_dir():
            raise UsageError(f"{out} exists and is no folder; choose another --out")
        if not any(out.iterdir()):
            return
        written = _listed(out)
        if written is None:
            raise UsageError(f"{out} exists and is no earlier result; choose another --out")
        changed = None if force else _first_change(out, written)
    if changed is not None:
        raise UsageError(
            f"{changed} was added or changed since npuforge wrote {out}; choose another --out, "
            "or --force to replace the folder"
        )


def write_folder(out: Path, files: Mapping[str, str | bytes], *, force: bool = False) -> None:
    """Write the files, whose names are relative paths; scripts (.sh) can be run."""
    check_free(out, force=force)
    place = Path(os.path.realpath(out))
    with _explained(out):
        place.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place)
        with _workspace(place) as work:
            new = work / "new"
            new.mkdir()
            digests = {name: _fill(new, name, content) for name, content in sorted(files.items())}
            (new / _LIST).write_bytes(RESULT_FOLDER.encode(_Written(digests)))
            check_free(out, force=force)  # what was added while the work was done
            _put(new, place, work / "old")


def _fill(folder: Path, name: str, content: str | bytes) -> str:
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\0" in name:
        raise UsageError(f"{name!r} is no name for a file of a result")
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    path.write_bytes(data)
    if path.suffix == ".sh":
        path.chmod(0o755)
    return hashlib.sha256(data).hexdigest()


def _put(new: Path, place: Path, old: Path) -> None:
    """Put `new` in its place; what was there becomes `old`."""
    try:
        new.rename(place)  # there is nothing, or an empty folder
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        if _exchange(new, place):
            new.rename(old)
        else:
            place.rename(old)
            new.rename(place)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(second))


@contextmanager
def _workspace(place: Path) -> Iterator[Path]:
    work = place.with_name(f".{place.name}.npuforge-{secrets.token_hex(8)}")
    work.mkdir(mode=0o700)
    handle = os.open(work, _OPEN_FOLDER)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(handle)


def _sweep(place: Path) -> None:
    """Remove what killed processes left; give back an old folder that has no successor."""
    for work in place.parent.glob(f".{_escaped(place.name)}.npuforge-{'[0-9a-f]' * 16}"):
        with suppress(OSError):
            handle = os.open(work, _OPEN_FOLDER)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(handle).st_uid != os.geteuid():
                    continue
                old = work / "old"
                if old.is_dir() and not old.is_symlink() and not os.path.lexists(place):
                    old.rename(place)
                shutil.rmtree(work, ignore_errors=True)
            finally:
                os.close(handle)


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _listed(out: Path) -> dict[str, str] | None:
    """Return the list of a folder that npuforge wrote."""
    try:
        handle = os.open(out / _LIST, _OPEN)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LIST_BYTES:
            return None
        text = os.read(handle, status.st_size)
    finally:
        os.close(handle)
    return RESULT_FOLDER.decode(text, _Written, out).files


def _first_change(out: Path, files: Mapping[str, str]) -> str | None:
    """Return the first path that was added or changed; a file that is gone is no loss."""
    folders = {str(parent) for name in files for parent in PurePosixPath(name).parents}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if path.is_dir() and not path.is_symlink():
            if name not in folders:
                return name
        elif name != _LIST and (name not in files or _digest(path) != files[name]):
            return name
    return None


def _digest(path: Path) -> str | None:
    """Return the digest of a plain file; None for anything else."""
    try:
        handle = os.open(path, _OPEN)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _explained(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror or error}") from None
    except RecursionError:
        raise UsageError(f"{out} holds folders that are nested too deeply") from None
