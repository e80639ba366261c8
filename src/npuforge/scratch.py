# SPDX-License-Identifier: Apache-2.0
"""Temporary folders that do not outlive the process that made them, however it ends.

All scratch folders of a process lie in a folder of its own, whose lock file it holds as long as it
lives. A killed process loses the lock, so the next process that needs a scratch folder removes what
the dead one left. The root belongs to this user alone.

    <temporary folder>/npuforge-<user id>/lock            held for an instant to add or to sweep
    <temporary folder>/npuforge-<user id>/<token>/lock    held by the owner for its whole life
    <temporary folder>/npuforge-<user id>/<token>/<purpose>-<token>/
"""

from __future__ import annotations

import atexit
import fcntl
import os
import secrets
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from npuforge.errors import UsageError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK = "lock"
_DEAD = "dead-"


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """Yield an empty folder for `purpose`; it is removed at the end of the block."""
    path = new_folder(purpose)
    try:
        yield path
    finally:
        remove(path)


def new_folder(purpose: str) -> Path:
    """Make an empty folder that is removed when the process ends, or before by `remove`."""
    path = _OWNER.folder() / f"{purpose}-{secrets.token_hex(8)}"
    try:
        path.mkdir(mode=0o700)
    except OSError as error:
        raise UsageError(f"cannot make a temporary folder: {error}") from None
    return path


def remove(path: Path) -> None:
    """Remove a folder and all below it, if it is there, whatever a hostile writer left in it.

    Nested folders are moved up into the folder itself: neither the depth of the nesting nor the
    length of its paths matters. A folder is opened without following links, and its owner gets back
    the rights that its maker left out.
    """
    with suppress(OSError):
        parent = os.open(path.parent, _FOLDER)
        try:
            top = _open_folder(path.name, parent)
            try:
                _empty(top)
            finally:
                os.close(top)
            os.rmdir(path.name, dir_fd=parent)
        finally:
            os.close(parent)


def _empty(top: int) -> None:
    """Remove what is in the folder of this descriptor."""
    waiting = _unlink_files(top)
    while waiting:
        name = waiting.pop()
        folder = _open_folder(name, top)
        try:
            for inner in _unlink_files(folder):
                os.close(_open_folder(inner, folder))  # its owner may move it then
                moved = f"{_DEAD}{secrets.token_hex(8)}"
                os.rename(inner, moved, src_dir_fd=folder, dst_dir_fd=top)
                waiting.append(moved)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=top)


def _unlink_files(folder: int) -> list[str]:
    """Remove all but folders, and return the names of those."""
    inner = []
    for name in os.listdir(folder):
        try:
            os.unlink(name, dir_fd=folder)
        except (IsADirectoryError, PermissionError):
            inner.append(name)
    return inner


def _open_folder(name: str, parent: int) -> int:
    try:
        handle = os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        handle = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
    try:
        if os.fstat(handle).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(f"/proc/self/fd/{handle}", 0o700)
        return os.open(".", _FOLDER, dir_fd=handle)
    finally:
        os.close(handle)


class _Owner:
    """The folder of this process; a forked child begins with none."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._folder: Path | None = None
        self._lock = -1

    def folder(self) -> Path:
        with self._guard:
            if self._folder is None or not self._folder.is_dir():
                self._folder = self._made()
            return self._folder

    def _made(self) -> Path:
        root = _root()
        with _locked(root / _LOCK):
            folder = root / secrets.token_hex(8)
            folder.mkdir(mode=0o700)
            self._lock = _hold(folder / _LOCK)
        sweep(root)
        return folder

    def forget(self) -> None:
        """Begin anew in a forked child: the parent's folder is the parent's to remove."""
        if self._lock >= 0:
            os.close(self._lock)
        self.__init__()  # type: ignore[misc]

    def close(self) -> None:
        with self._guard:
            if self._folder is not None:
                remove(self._folder)
                os.close(self._lock)
                self._folder, self._lock = None, -1


def sweep(root: Path) -> None:
    """Remove folders whose owner is dead."""
    dead = []
    with _locked(root / _LOCK):
        for folder in root.iterdir():
            if folder.name.startswith(_DEAD):
                dead.append(folder)
            elif folder.is_dir() and _abandoned(folder):
                gone = root / f"{_DEAD}{secrets.token_hex(8)}"
                with suppress(OSError):
                    folder.rename(gone)
                    dead.append(gone)
    for folder in dead:
        remove(folder)


def _abandoned(folder: Path) -> bool:
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return True  # its owner was killed while it made or removed the folder
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _root() -> Path:
    """Return the user's folder, or a new one if something else has its name."""
    path = Path(tempfile.gettempdir()) / f"npuforge-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        status = path.lstat()
    except OSError as error:
        raise UsageError(f"cannot make a temporary folder: {error}") from None
    private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
    if private and status.st_uid == os.getuid():
        return path
    return Path(tempfile.mkdtemp(prefix="npuforge-"))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    handle = _hold(path)
    try:
        yield
    finally:
        os.close(handle)


def _hold(path: Path) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(f"cannot make a temporary folder: {error}") from None
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


_OWNER = _Owner()
os.register_at_fork(after_in_child=_OWNER.forget)
atexit.register(_OWNER.close)
