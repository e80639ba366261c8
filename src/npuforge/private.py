# SPDX-License-Identifier: Apache-2.0
"""Files that nobody but this user reads: recordings, stores. The umask has no say."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from npuforge.errors import UsageError

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FILE, _FOLDER = 0o600, 0o700


def private_folder(path: Path) -> None:
    """Make a folder and those above that are missing; one that is there stays as it is."""
    try:
        missing = [place for place in (path, *path.parents) if not place.exists()]
        for place in reversed(missing):
            place.mkdir(mode=_FOLDER, exist_ok=True)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "it is not a folder")
    except OSError as error:
        raise UsageError(f"cannot make {path}: {error.strerror}") from None


def private_file(path: Path, *, follow: bool = False) -> int:
    """Open a plain file for reading and writing at its end; return the descriptor.

    A file that others could read, and that is this user's, is closed to them. Links count as
    something else than a file unless they are followed.
    """
    flags = _FLAGS | os.O_APPEND | (0 if follow else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags, _FILE)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no name of a file"
        raise UsageError(f"cannot write {path}: {reason}") from None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise UsageError(f"cannot write {path}: it is not a plain file")
    if status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) != _FILE:
        os.fchmod(handle, _FILE)
    return handle
