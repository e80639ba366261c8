# SPDX-License-Identifier: Apache-2.0
"""Open SQLite files that a stranger may have made: run folders, stores of knowledge.

SQLite trusts what lies beside a file and what its schema says. Rules:
    BESIDE   journals are plain files; one that names another file is refused, as SQLite removes
             the file that it names
    SCHEMA   nothing is asked of a file before its schema is known to be ours, word for word: views
             and triggers run for ever, or change what is read
    BOUNDED  a value has at most 64 MiB
"""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

from npuforge.errors import UsageError

Schema = dict[str, tuple[str, str]]

_BESIDE = ("-journal", "-wal", "-shm")
_MAGIC = bytes.fromhex("d9d505f920a163d7")  # at the end of a journal that names another file
_LONGEST_VALUE = 64 << 20


def open_database(path: Path | None, **options: Any) -> sqlite3.Connection:
    """Connect to the file, or to memory without one; `schema_of` tells whether it may be read."""
    if path is not None:
        check_beside(path)
    base: sqlite3.Connection = sqlite3.connect(path or ":memory:", **options)
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    for setting in ("trusted_schema = OFF", "cell_size_check = ON"):
        base.execute(f"PRAGMA {setting}")
    return base


def check_beside(path: Path) -> None:
    """Refuse what SQLite would follow or remove beside the file."""
    real = os.path.realpath(path)
    for end in _BESIDE:
        try:
            handle = os.open(real + end, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UsageError(f"{path}{end} cannot be read: {error.strerror}") from None
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(f"{path}{end} is not a plain file")
            last = os.pread(handle, len(_MAGIC), max(0, status.st_size - len(_MAGIC)))
        finally:
            os.close(handle)
        if end == "-journal" and status.st_size > len(_MAGIC) and last == _MAGIC:
            raise UsageError(f"{path}{end} names another file, as no journal of ours does")


def schema_of(base: sqlite3.Connection) -> Schema:
    """Return the kind and the words of each table, index, view and trigger."""
    rows = base.execute("SELECT name, type, sql FROM sqlite_master").fetchall()
    return {str(name): (str(kind), " ".join(str(sql).split())) for name, kind, sql in rows}
