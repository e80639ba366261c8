# SPDX-License-Identifier: Apache-2.0
"""An entry of the build cache: a folder of files, and the list that says what they must be.

The list names the entry's key, the files that the build read, and the entry's own files, each with
its digest. The folder is named for the digest of the list. So a changed bit anywhere, a truncated,
missing or added file, a link or a pipe in place of a file, and an entry moved to another key all
show. A file that somebody else owns or may write counts as damaged.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from npuforge.errors import ToolchainError, UsageError
from npuforge.fileformat import BUILD_CACHE

_LISTING = "entry.json"
_LISTING_BYTES = 16 << 20
_DIGEST_BYTES = 4 << 30
_PIECE = 1 << 20
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FOREIGN_WRITES = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class _Listing:
    """The list of an entry; `files` and `dependencies` hold digests by name."""

    key: str
    files: dict[str, str]
    dependencies: dict[str, str]


def digest(*parts: str | bytes) -> str:
    """Return a digest of the parts that depends on where each one ends."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()[:40]


def file_digest(path: Path) -> str | None:
    """Return the digest of a regular file's content; None if it cannot be read."""
    try:
        status = path.stat()
        return _file_digest(path, *_identity(status)) if stat.S_ISREG(status.st_mode) else None
    except (OSError, ValueError):
        return None


def close_entry(folder: Path, key: str, dependencies: Iterable[Path], project: Path) -> str:
    """Write the list of what a build left in `folder`; return the name that the entry must have.

    Dependencies inside `project` are named relative to it.
    """
    recorded: dict[str, str] = {}
    for path in sorted(set(dependencies)):
        known = file_digest(path)
        if known is not None:
            inside = path.is_relative_to(project)
            recorded[str(path.relative_to(project) if inside else path)] = known
    files = {path.name: _settled(path) for path in sorted(folder.iterdir())}
    listing = BUILD_CACHE.encode(_Listing(key, files, dict(sorted(recorded.items()))))
    (folder / _LISTING).write_bytes(listing)
    (folder / _LISTING).chmod(0o600)
    return digest(listing)


def is_intact(entry: Path, key: str, *, unread: frozenset[str] = frozenset()) -> bool:
    """Tell whether the entry is for `key` and its own files are as they were built.

    Of files in `unread` the content is not looked at.
    """
    return _intact_listing(entry, key, unread) is not None


def is_valid(entry: Path, key: str, project: Path, *, unread: frozenset[str] = frozenset()) -> bool:
    """Tell whether the entry is intact and its dependencies are as they were, too."""
    listing = _intact_listing(entry, key, unread)
    return listing is not None and all(
        file_digest(project / name) == known for name, known in listing.dependencies.items()
    )


def holds(path: Path, content: bytes) -> bool:
    """Tell whether `path` is a file of this user with this content."""
    try:
        return _is_ours(path.lstat()) and file_digest(path) == digest(content)
    except (OSError, ValueError):
        return False


def _intact_listing(entry: Path, key: str, unread: frozenset[str]) -> _Listing | None:
    try:
        text = _plain_content(entry / _LISTING)
        listing = BUILD_CACHE.decode(text, _Listing, entry)
        whole = (
            stat.S_ISDIR(entry.lstat().st_mode)
            and entry.name == digest(text)
            and listing.key == key
            and {path.name for path in entry.iterdir()} == {_LISTING, *listing.files}
            and all(
                _is_ours((entry / name).lstat())
                and (name in unread or file_digest(entry / name) == known)
                for name, known in listing.files.items()
            )
        )
    except (OSError, UsageError, ValueError):
        return None
    return listing if whole else None


def _settled(path: Path) -> str:
    """Take a file of the sandboxed compiler as it is: return its digest, end others' access."""
    handle = os.open(path, _OPEN | os.O_NOFOLLOW)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise ToolchainError(f"the compiler left {path.name}, which is no plain file")
        os.fchmod(handle, stat.S_IMODE(status.st_mode) & 0o755 & ~_FOREIGN_WRITES)
        return _digest_of(handle)
    finally:
        os.close(handle)


def _is_ours(status: os.stat_result) -> bool:
    return (
        stat.S_ISREG(status.st_mode)
        and status.st_uid in (os.geteuid(), 0)
        and not status.st_mode & _FOREIGN_WRITES
    )


def _plain_content(path: Path) -> bytes:
    handle = os.open(path, _OPEN | os.O_NOFOLLOW)
    try:
        status = os.fstat(handle)
        if not _is_ours(status) or status.st_size > _LISTING_BYTES:
            raise OSError("not a list of this cache")
        return os.read(handle, status.st_size)
    finally:
        os.close(handle)


def _identity(status: os.stat_result) -> tuple[int, int, int, int, int]:
    return (
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
    )  # fmt: skip


@lru_cache(maxsize=8192)
def _file_digest(path: Path, *_: int) -> str:
    handle = os.open(path, _OPEN)
    try:
        return _digest_of(handle)
    finally:
        os.close(handle)


def _digest_of(handle: int) -> str:
    """Return what `digest` gives for the content."""
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or status.st_size > _DIGEST_BYTES:
        raise OSError("not a file with a digest")
    state = hashlib.sha256(status.st_size.to_bytes(8, "little"))
    left = status.st_size
    while left and (piece := os.read(handle, min(left, _PIECE))):
        state.update(piece)
        left -= len(piece)
    return state.hexdigest()[:40]
