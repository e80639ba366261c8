# SPDX-License-Identifier: Apache-2.0
"""The results of a run in SQLite: one transaction an attempt, so that a kill loses none and
doubles none."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from types import TracebackType

import msgspec

from npuforge.bench.attempt import Attempt
from npuforge.bench.codec import decode, encode
from npuforge.bench.settings import Settings
from npuforge.bench.task import Task
from npuforge.errors import UsageError
from npuforge.fileformat import BENCH_FOLDER
from npuforge.files import replacement
from npuforge.private import private_file, private_folder
from npuforge.untrusted.database import Schema, open_database, schema_of
from npuforge.untrusted.inputs import is_plain_file

FILE = "results.sqlite"
_OPEN_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TABLES = """
CREATE TABLE run (settings TEXT NOT NULL);
CREATE TABLE tasks (place INTEGER PRIMARY KEY, task TEXT NOT NULL);
CREATE TABLE attempts (
    task TEXT NOT NULL, sample INTEGER NOT NULL, attempt TEXT NOT NULL,
    PRIMARY KEY (task, sample)
);
"""


class Store:
    """A run's folder, open; `with` closes it. One process at a time may write to a run."""

    def __init__(self, folder: Path, *, writing: bool = False) -> None:
        self.folder = folder
        self._lock = _locked(folder) if writing else None
        try:
            self._base = _connect(folder / FILE)
        except UsageError:
            self._release()
            raise
        try:
            (number,) = self._base.execute("PRAGMA user_version").fetchone()
            BENCH_FOLDER.check(number, folder)
            if schema_of(self._base) != _schema():
                raise UsageError(f"{folder} holds no benchmark run: it has other tables")
            (text,) = self._base.execute("SELECT settings FROM run").fetchone()
            tasks = self._base.execute("SELECT task FROM tasks ORDER BY place").fetchall()
            self.settings = decode(text, Settings)
            self.tasks = [decode(task, Task) for (task,) in tasks]
        except (sqlite3.Error, msgspec.DecodeError, TypeError, ValueError, RecursionError) as error:
            self.close()
            raise UsageError(f"{folder} holds no benchmark run: {error}") from None
        except UsageError:
            self.close()
            raise

    @staticmethod
    def create(folder: Path, settings: Settings, tasks: Iterable[Task]) -> Store:
        """A new run; its folder must not hold one."""
        private_folder(folder)
        if (folder / FILE).exists():
            raise UsageError(
                f"{folder} holds a run: --resume goes on with it, --out starts another"
            )
        # Under another name until it is whole: who kills us now leaves no half of a run.
        with _explained(folder), replacement(folder / FILE) as unfinished:
            os.close(private_file(unfinished))
            base = sqlite3.connect(unfinished)
            with base:
                base.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {BENCH_FOLDER.number};")
                base.execute("INSERT INTO run VALUES (?)", (encode(settings).decode(),))
                rows = [(place, encode(task).decode()) for place, task in enumerate(tasks)]
                base.executemany("INSERT INTO tasks VALUES (?, ?)", rows)
            base.close()
        return Store(folder, writing=True)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the files; another process may write then."""
        self._base.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def add(self, attempt: Attempt) -> None:
        """Keep an attempt, all of it or nothing."""
        row = (attempt.task, attempt.sample, attempt.to_json().decode())
        with _explained(self.folder), self._base:
            self._base.execute("INSERT INTO attempts VALUES (?, ?, ?)", row)

    def attempts(self) -> list[Attempt]:
        """What is there, in the order of the tasks."""
        order = {task.name: place for place, task in enumerate(self.tasks)}
        with _explained(self.folder):
            rows = self._base.execute("SELECT attempt FROM attempts").fetchall()
        found = [Attempt.from_json(text) for (text,) in rows]
        if unknown := [attempt.task for attempt in found if attempt.task not in order]:
            raise UsageError(f"{self.folder} has an attempt at no task of it: {unknown[0]}")
        return sorted(found, key=lambda attempt: (order[attempt.task], attempt.sample))

    def done(self) -> set[tuple[str, int]]:
        """Task and sample of every attempt that is there."""
        with _explained(self.folder):
            return set(self._base.execute("SELECT task, sample FROM attempts").fetchall())


@cache
def _schema() -> Schema:
    """Return the schema of a new run."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.executescript(_TABLES)
        return schema_of(base)


def _connect(file: Path) -> sqlite3.Connection:
    if not is_plain_file(file):
        raise UsageError(f"{file.parent} holds no benchmark run")
    # Attempts end in threads; the runner hands them to the one thread that writes.
    with _explained(file.parent):
        return open_database(file)


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """A damaged file, a full disk or a folder that takes no writes is one line."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise  # ours
    except sqlite3.Error as error:
        raise UsageError(f"{folder}: the results cannot be read or written: {error}") from None


def _locked(folder: Path) -> int:
    try:
        lock = os.open(folder / ".lock", _OPEN_LOCK, 0o600)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise UsageError(f"another process is at work on {folder}") from None
    return lock
