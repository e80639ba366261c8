# SPDX-License-Identifier: Apache-2.0
"""A content-addressed store of build results, shared by processes and bounded in size.

An entry is a folder `<root>/entries/<key>/<digest of its dependencies>/` with the artefacts and a
list of the files the build read with their digests. The key covers what is known before a build
(compiler, flags, source text); the dependencies are known after it. A look-up takes the entry whose
dependencies all still have their digests: a changed local header misses, changing it back hits.

Rules that keep concurrent processes safe:
    APPEAR  an entry is made in `<root>/tmp` and appears by one rename
    VANISH  an entry goes back there by one rename, and is deleted there
    LOCK    builders of one key hold its lock file, so that the second finds the first's entry
    FORMAT  an entry with another number of the format is not found, so it is built again
    GRACE   pruning (oldest use first) spares what was used in the last hour: its path may be in use

A header that did not exist at build time and now shadows another one is not noticed; no cache that
works from dependency files sees that.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.fileformat import BUILD_CACHE

_DEPENDENCIES = "dependencies.json"
_DEFAULT_BYTES = 4 << 30
_GRACE_S = 3600.0
_PRUNE_EVERY = 32  # stores of one process between looks at the total size


def digest(*parts: str | bytes) -> str:
    """A digest of the parts that depends on where each one ends."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()[:40]


def file_digest(path: Path) -> str | None:
    """Digest of a file's content; None when it cannot be read."""
    try:
        status = path.stat()
        return _file_digest(path, status.st_mtime_ns, status.st_size, status.st_ino)
    except OSError:
        return None


@lru_cache(maxsize=8192)
def _file_digest(path: Path, _changed: int, _size: int, _inode: int) -> str:
    return digest(path.read_bytes())


def default_root() -> Path:
    """NPUFORGE_CACHE, else `npuforge` in the user's cache folder."""
    named = os.environ.get("NPUFORGE_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "npuforge"


@dataclass(slots=True)
class Cache:
    """The store under `root`, kept below `max_bytes`."""

    root: Path
    max_bytes: int = _DEFAULT_BYTES
    _stores: int = 0

    def find(self, key: str, project: Path) -> Path | None:
        """The folder of a valid entry; dependencies inside `project` are looked up there."""
        try:
            entries = sorted(self._place(key).iterdir())
        except OSError:
            return None
        for entry in entries:
            try:
                listing = (entry / _DEPENDENCIES).read_bytes()
                recorded = BUILD_CACHE.decode(listing, dict[str, str | int], entry)
            except (OSError, UsageError):
                continue
            recorded.pop("format", None)
            if all(file_digest(project / name) == known for name, known in recorded.items()):
                try:
                    os.utime(entry)
                except OSError:
                    continue  # pruned by another process this very moment, or not ours to touch
                return entry
        return None

    def store(self, key: str, made: Path, dependencies: Iterable[Path], project: Path) -> Path:
        """Turn the folder `made` (from `workspace`) into an entry and return where it is."""
        recorded: dict[str, str] = {}
        for path in sorted(set(dependencies)):
            known = file_digest(path)
            if known is not None:
                inside = path.is_relative_to(project)
                recorded[str(path.relative_to(project) if inside else path)] = known
        listing = BUILD_CACHE.encode(dict(sorted(recorded.items())))
        (made / _DEPENDENCIES).write_bytes(listing)
        entry = self._place(key) / digest(listing)
        entry.parent.mkdir(parents=True, exist_ok=True)
        try:
            made.rename(entry)
        except OSError:
            if not (entry / _DEPENDENCIES).is_file():
                raise
            shutil.rmtree(made, ignore_errors=True)  # another process stored the same first
        self._stores += 1
        if self._stores % _PRUNE_EVERY == 1:
            self.prune()
        return entry

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """A fresh folder on the cache's file system; removed unless `store` took it."""
        folder = self.root / "tmp"
        folder.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Hold the key's lock; blocks while another process or thread builds the same."""
        folder = self.root / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / key[:3]).open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def size(self) -> int:
        """Bytes of all entries."""
        return sum(size for _, size, _ in self._entries())

    def prune(self) -> None:
        """Drop entries, longest unused first, until the store fits; also abandoned workspaces."""
        now = time.time()
        for folder in (self.root / "tmp").glob("*"):
            try:
                abandoned = now - folder.stat().st_mtime > 24 * _GRACE_S
            except OSError:
                continue
            if abandoned:
                shutil.rmtree(folder, ignore_errors=True)
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        for used, size, entry in entries:
            if total <= self.max_bytes or now - used < _GRACE_S:
                break
            with self.workspace() as gone, suppress(OSError):  # another process was first
                entry.rename(gone / entry.name)
            total -= size

    def _place(self, key: str) -> Path:
        return self.root / "entries" / key[:2] / key

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """Last use, size and place of every entry."""
        for entry in (self.root / "entries").glob("*/*/*"):
            try:
                files = [path.stat() for path in entry.iterdir()]
                yield entry.stat().st_mtime, sum(file.st_size for file in files), entry
            except OSError:
                continue
