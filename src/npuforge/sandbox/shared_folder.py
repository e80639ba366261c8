# SPDX-License-Identifier: Apache-2.0
"""The only way by which trusted code touches a folder that a sandboxed process can write.

Everything in such a folder is hostile input. Rules, which hold by construction:
    NAMES    the trusted side chooses names; a name is one plain component
    DIRFD    a file is opened relative to the folder's descriptor, which nobody can exchange
    PLAIN    only regular files are read, links are not followed, opening never waits
    BOUNDED  a read has a limit; a file that is larger, or grows meanwhile, is refused
    FRESH    a write makes a new file of a secret name and renames it: nothing that lies there is
             written to, whatever it links to
    WAIT     a wait ends: with the file, with the process, or at its deadline
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import numpy as np

from npuforge.dtypes import AnyArray
from npuforge.errors import NpuforgeError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}")
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BOTH = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE = 1 << 20
_POLL_S = (0.002, 0.02)  # at first, after a second


class HostileFileError(NpuforgeError):
    """A sandboxed process left something else than the file it should have left."""


class SharedFolder:
    """A folder between the trusted side and a sandboxed process; `path` names it for the process.

    The folder must exist and its parent must be out of the process's reach.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._inner: list[SharedFolder] = []
        self._folder = os.open(path, _FOLDER)

    def __enter__(self) -> SharedFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptors back; the folder stays."""
        for inner in self._inner:
            inner.close()
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def subfolder(self, name: str) -> SharedFolder:
        """Make a folder in it; what may lie there under this name is refused."""
        try:
            os.mkdir(_plain(name), 0o700, dir_fd=self._folder)
            inner = os.open(name, _FOLDER, dir_fd=self._folder)
        except OSError as error:
            raise HostileFileError(f"cannot make {name}: {error.strerror}") from None
        made = SharedFolder.__new__(SharedFolder)
        made.path, made._inner, made._folder = self.path / name, [], inner
        self._inner.append(made)
        return made

    def fifo(self, name: str) -> int:
        """Make a named pipe and return a descriptor for both directions, which never waits.

        The process opens the name; the trusted side keeps to the descriptor.
        """
        try:
            os.mkfifo(_plain(name), 0o600, dir_fd=self._folder)
            handle = os.open(name, _BOTH, dir_fd=self._folder)
        except OSError as error:
            raise HostileFileError(f"cannot make {name}: {error.strerror}") from None
        if not stat.S_ISFIFO(os.fstat(handle).st_mode):
            os.close(handle)
            raise HostileFileError(f"{name} is not a named pipe")
        return handle

    def link(self, name: str, target: Path) -> None:
        """Make a link for the process; the trusted side follows none."""
        try:
            os.symlink(target, _plain(name), dir_fd=self._folder)
        except OSError as error:
            raise HostileFileError(f"cannot make {name}: {error.strerror}") from None

    def holds(self, name: str) -> bool:
        """Tell whether anything has this name."""
        try:
            os.stat(_plain(name), dir_fd=self._folder, follow_symlinks=False)
        except OSError:
            return False
        return True

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a plain file of at most `limit` bytes."""
        return self.array(name, limit).tobytes()

    def size(self, name: str) -> int | None:
        """Return the size of the plain file of this name; None if there is none."""
        try:
            status = os.stat(_plain(name), dir_fd=self._folder, follow_symlinks=False)
        except OSError:
            return None
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    def find(self, name: str, limit: int) -> bytes | None:
        """Return the content as `read` does; None if nothing has this name."""
        return self.read(name, limit) if self.holds(name) else None

    def array(self, name: str, limit: int, *, size: int | None = None) -> AnyArray:
        """Return the content as octets; `size` is what they must be, where that is known."""
        try:
            handle = os.open(_plain(name), _OPEN, dir_fd=self._folder)
        except OSError as error:
            raise HostileFileError(f"cannot read {name}: {error.strerror}") from None
        try:
            length = self._length(name, handle, limit)
            if size is not None and length != size:
                raise HostileFileError(f"{name} has {length} bytes instead of {size}")
            octets = np.empty(length, np.uint8)
            done = 0
            while done < length:
                count = os.readv(handle, [octets.data[done : done + _PIECE]])
                if not count:
                    raise HostileFileError(f"{name} became shorter while it was read")
                done += count
        finally:
            os.close(handle)
        return octets

    @staticmethod
    def _length(name: str, handle: int, limit: int) -> int:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise HostileFileError(f"{name} is not a plain file")
        if status.st_size > limit:
            raise HostileFileError(f"{name} has {status.st_size} bytes; at most {limit} are read")
        return status.st_size

    def write(self, name: str, content: bytes | memoryview) -> None:
        """Put a whole file there under `name`, in the place of whatever file or link has it."""
        temporary = f"tmp_{secrets.token_hex(12)}"
        try:
            handle = os.open(temporary, _CREATE, 0o600, dir_fd=self._folder)
            with os.fdopen(handle, "wb", buffering=0) as file:
                view = memoryview(content).cast("B")
                while view:
                    view = view[file.write(view[:_PIECE]) :]
            os.rename(temporary, _plain(name), src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError as error:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=self._folder)
            raise HostileFileError(f"cannot write {name}: {error.strerror}") from None

    def copy(self, name: str, target: SharedFolder, limit: int) -> None:
        """Put the content of a plain file into another folder, under the same name."""
        target.write(name, self.array(name, limit).data)

    def remove(self, name: str) -> None:
        """Remove the file or link of this name, if there is one."""
        with suppress(OSError):
            os.unlink(_plain(name), dir_fd=self._folder)

    def wait(self, name: str, limit: int, *, seconds: float, ended: Callable[[], bool]) -> bytes:
        """Return the file's content once it is there.

        `ended` tells whether the process that writes it is gone. Raise HostileFileError if it is
        gone and left nothing, or after `seconds`.
        """
        begun = time.monotonic()
        while not self.holds(name):
            gone = ended()
            if gone and not self.holds(name):
                raise HostileFileError(f"the process ended without {name}")
            waited = time.monotonic() - begun
            if waited > seconds:
                raise HostileFileError(f"no {name} within {seconds:g} s")
            time.sleep(_POLL_S[waited > 1])
        return self.read(name, limit)


def _plain(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise HostileFileError(f"not a plain file name: {name[:80]!r}")
    return name
