# SPDX-License-Identifier: Apache-2.0
"""A content-addressed store of build results, shared by processes and bounded in size.

An entry is a folder `<root>/entries/<key>/<digest of its list>/`, see `cache_entry`. The key covers
what is known before a build (compiler, flags, source text); the dependencies are known after it. A
look-up takes the entry whose dependencies all still have their digests: a changed local header
misses, changing it back hits.

Rules that keep concurrent processes safe:
    APPEAR  an entry is made in `<root>/tmp` and appears by one rename
    VANISH  an entry goes back there by one rename, and is deleted there
    LOCK    builders of one key hold its lock file, so that the second finds the first's entry
    FORMAT  an entry with another number of the format is not found, so it is built again
    GRACE   pruning (oldest use first) spares what was used in the last hour: its path may be in use
    WHOLE   an entry whose files do not have their digests is not found, and replaced when built
    OURS    the root belongs to its user, and nobody else writes there: what it holds is run

A header that did not exist at build time and now shadows another one is not noticed; no cache that
works from dependency files sees that.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from npuforge.errors import ToolchainError
from npuforge.twin.cache_entry import close_entry, digest, file_digest, holds, is_intact, is_valid

__all__ = ["Cache", "default_root", "digest", "file_digest"]

_DEFAULT_BYTES = 4 << 30
_LEAST_FREE = 32 << 20
_GRACE_S = 3600.0
_PRUNE_EVERY = 32  # stores of one process between looks at the total size
_OPEN_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_IN_THE_WAY = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)
_TRIES = 3
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


def default_root() -> Path:
    """Return NPUFORGE_CACHE, or else `npuforge` in the user's cache folder."""
    named = os.environ.get("NPUFORGE_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    path = Path(named) if named else Path(base) / "npuforge"
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        raise ToolchainError(
            f"no home folder for {path}; NPUFORGE_CACHE names another folder"
        ) from None


@dataclass(slots=True)
class Cache:
    """The store under `root`, kept below `max_bytes`."""

    root: Path
    max_bytes: int = _DEFAULT_BYTES
    _stores: int = 0
    _checked: bool = False

    def find(self, key: str, project: Path, *, unread: frozenset[str] = frozenset()) -> Path | None:
        """Return the folder of a whole entry; dependencies inside `project` are looked up there.

        Files in `unread` are large: who uses one calls `intact` before.
        """
        self._check()
        try:
            entries = sorted(self._place(key).iterdir())
        except OSError:
            return None  # nothing was built, or what lies here is no folder
        for entry in entries:
            if is_valid(entry, key, project, unread=unread) and self._use(entry):
                return entry
        return None

    def intact(self, entry: Path) -> bool:
        """Tell whether all files of an entry that was found are still as they were built."""
        return is_intact(entry, entry.parent.name)

    def store(self, key: str, made: Path, dependencies: Iterable[Path], project: Path) -> Path:
        """Turn the folder `made` (from `workspace`) into an entry and return where it is."""
        with self._explained():
            entry = self._place(key) / close_entry(made, key, dependencies, project)
            self._folder(entry.parent)
            for attempt in range(_TRIES):
                try:
                    made.rename(entry)
                    break
                except OSError as error:
                    if is_intact(entry, key):  # another process stored the same first
                        break
                    if error.errno not in _IN_THE_WAY or attempt == _TRIES - 1:
                        raise
                    self._drop(entry)
        self._stores += 1
        if self._stores % _PRUNE_EVERY == 1:
            self.prune()
        return entry

    def text(self, folder: str, name: str, content: str) -> Path:
        """Return a file `folder/name` of the cache that holds exactly `content`."""
        self._check()
        data = content.encode("utf-8", "replace")
        path = self.root / folder / name
        if not holds(path, data):
            with self._explained(), self.workspace() as made:
                (made / name).write_bytes(data)
                (made / name).chmod(0o600)
                if path.is_dir():
                    self._drop(path)
                self._folder(path.parent)
                (made / name).replace(path)
        return path

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """Yield a fresh folder on the cache's file system; removed unless `store` took it.

        Its owner holds a lock on it, so that what a killed process left is known by its free lock.
        """
        self._check()
        with self._explained():
            folder = self._folder(self.root / "tmp")
            with self._turn(fcntl.LOCK_SH):
                made = Path(tempfile.mkdtemp(dir=folder))
                handle = os.open(made, _OPEN_FOLDER)
                fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)
            _unlock(handle)

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Hold the key's lock; wait while another process or thread builds the same."""
        self._check()
        with self._explained():
            handle = self._lock(self._folder(self.root / "locks") / key[:3], fcntl.LOCK_EX)
        try:
            yield
        finally:
            _unlock(handle)

    def check_room(self) -> None:
        """Refuse to go on if the disk is full: a build that failed there says nothing."""
        with self._explained():
            status = os.statvfs(self.root)
            if status.f_bavail * status.f_frsize < _LEAST_FREE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def size(self) -> int:
        """Return the bytes of all entries."""
        return sum(size for _, size, _ in self._entries())

    def prune(self) -> None:
        """Drop entries, longest unused first, until the store fits; also abandoned workspaces."""
        now = time.time()
        self._sweep()
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        for used, size, entry in entries:
            if total <= self.max_bytes or now - used < _GRACE_S:
                break
            with suppress(OSError), self._turn(fcntl.LOCK_EX):
                if entry.lstat().st_mtime == used:  # found by nobody meanwhile
                    self._drop(entry)
            total -= size

    def _sweep(self) -> None:
        """Remove the workspaces of processes that were killed."""
        for folder in (self.root / "tmp").glob("*"):
            with suppress(OSError), self._turn(fcntl.LOCK_EX):
                if folder.is_symlink() or not folder.is_dir():
                    _remove(folder)
                    continue
                handle = os.open(folder, _OPEN_FOLDER)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _remove(folder)
                finally:
                    os.close(handle)

    def _check(self) -> None:
        """Make the root, and refuse one that is not this user's alone."""
        if self._checked:
            return
        with self._explained():
            self.root.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self.root.mkdir(mode=0o700)
            status = self.root.stat()
            if not stat.S_ISDIR(status.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if status.st_uid not in (os.geteuid(), 0):
            raise ToolchainError(
                f"the build cache {self.root} belongs to another user; NPUFORGE_CACHE names another"
            )
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ToolchainError(
                f"others may write to the build cache {self.root}, whose files are run: "
                f"remove it, or forbid that (chmod -R go-w)"
            )
        self._checked = True
        self._sweep()

    def _folder(self, path: Path) -> Path:
        """Make a folder in the root, closed to others."""
        if not path.is_dir():
            with suppress(FileExistsError):
                if path != self.root:
                    self._folder(path.parent)
                path.mkdir(mode=0o700)
        return path

    def _use(self, entry: Path) -> bool:
        """Note the use of an entry; False if another process pruned it this very moment."""
        try:
            with self._turn(fcntl.LOCK_SH):
                os.utime(entry)
        except OSError as error:
            return error.errno in _READ_ONLY and entry.is_dir()
        return True

    @contextmanager
    def _turn(self, mode: int) -> Iterator[None]:
        """Exclude that an entry is pruned between the look at its age and its removal."""
        handle = self._lock(self._folder(self.root / "locks") / "prune", mode)
        try:
            yield
        finally:
            _unlock(handle)

    def _lock(self, path: Path, mode: int) -> int:
        handle = os.open(path, _OPEN_LOCK, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(errno.EINVAL, f"{path.name} is no lock file")
            fcntl.flock(handle, mode)
        except OSError:
            os.close(handle)
            raise
        return handle

    def _drop(self, path: Path) -> None:
        """Remove what lies at `path` in one step."""
        gone = self._folder(self.root / "tmp") / secrets.token_hex(8)
        with suppress(FileNotFoundError):  # another process was first
            path.rename(gone)
            _remove(gone)

    def _place(self, key: str) -> Path:
        return self.root / "entries" / key[:2] / key

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """Yield last use, size and place of every entry."""
        for entry in (self.root / "entries").glob("*/*/*"):
            try:
                files = [path.lstat() for path in entry.iterdir()]
                yield entry.lstat().st_mtime, sum(file.st_size for file in files), entry
            except OSError:
                continue

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ToolchainError(
                f"cannot use the build cache {self.root}: {error.strerror or error}; "
                "NPUFORGE_CACHE names another folder"
            ) from None


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _unlock(handle: int) -> None:
    """Release a lock for good: a forked child may hold the same description open."""
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)
