# SPDX-License-Identifier: Apache-2.0
"""The only way by which the trusted side reads a file that a user or an input file names.

A name may lead to a pipe, a device, a folder, or a file larger than memory. Rules:
    PLAIN    only regular files are read, and opening one never waits
    BOUNDED  a read has a limit; a file that is larger, or grows meanwhile, is refused
    WITHIN   where `within` names a folder, nothing outside it is read, whatever links say
Files in folders that a sandboxed process can write are read by `SharedFolder`.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from npuforge.errors import UsageError

MIB = 1 << 20
TEXT_LIMIT = 8 * MIB
DATA_LIMIT = 4 << 30
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE = 1 << 24


def read_input(path: Path, limit: int = TEXT_LIMIT, *, within: Path | None = None) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Raise `UsageError` with the reason for anything else. If `within` is given, the file must lie in
    that folder or below it after all links are followed.
    """
    shown = shown_path(path)
    try:
        handle = os.open(path, _FLAGS) if within is None else _open_below(within, path)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {shown}: {_reason(error)}") from None
    try:
        return _content(handle, shown, limit)
    except OSError as error:
        raise UsageError(f"cannot read {shown}: {_reason(error)}") from None
    finally:
        os.close(handle)


def read_text(path: Path, limit: int = TEXT_LIMIT, *, within: Path | None = None) -> str:
    """Return the content as `read_input` does, as text in UTF-8."""
    try:
        return read_input(path, limit, within=within).decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{shown_path(path)} is not text in UTF-8") from None


def read_source(path: Path, limit: int = TEXT_LIMIT, *, within: Path | None = None) -> str:
    """Return a source's text; bytes that are not UTF-8 become replacement characters."""
    return read_input(path, limit, within=within).decode("utf-8", errors="replace")


def is_plain_file(path: Path, *, within: Path | None = None) -> bool:
    """Tell whether `path` is a regular file, and lies `within` that folder if one is given."""
    with suppress(OSError, ValueError):
        return stat.S_ISREG(path.stat().st_mode) and (within is None or lies_within(within, path))
    return False


def lies_within(folder: Path, path: Path) -> bool:
    """Tell whether `path` is `folder` or lies below it after all links are followed."""
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    except (OSError, ValueError):
        return False


def _open_below(folder: Path, path: Path) -> int:
    """Open `path` step by step from `folder`: a link put there meanwhile is not followed."""
    root = Path(os.path.realpath(folder))
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root) or real == root:
        raise OSError(errno.EPERM, f"it leads out of {root}")
    *folders, name = real.relative_to(root).parts
    place = os.open(root, _FOLDER)
    try:
        for part in folders:
            below = os.open(part, _FOLDER, dir_fd=place)
            os.close(place)
            place = below
        return os.open(name, _FLAGS | os.O_NOFOLLOW, dir_fd=place)
    finally:
        os.close(place)


def _content(handle: int, shown: str, limit: int) -> bytes:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"cannot read {shown}: it is not a plain file")
    if status.st_size > limit:
        raise UsageError(f"{shown} has {status.st_size} bytes; at most {limit} are read")
    parts: list[bytes] = []
    left = limit + 1  # a file may be larger than its size says (in /proc) or grow
    while left and (part := os.read(handle, min(left, _PIECE))):
        parts.append(part)
        left -= len(part)
    if not left:
        raise UsageError(f"{shown} has more than {limit} bytes, which are not read")
    return b"".join(parts)


def shown_path(path: Path) -> str:
    """Return the path for a message: printable, on one line, of bounded length."""
    text = str(path)
    shown = text if text.isprintable() else repr(text)
    return shown if len(shown) <= 300 else f"{shown[:140]}...{shown[-140:]}"


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return "it is not a name of a file"  # a NUL or a lone surrogate in it
