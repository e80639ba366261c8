# SPDX-License-Identifier: Apache-2.0
"""Where entries live: SQLite, one transaction for each change, nothing ever lost.

Every change of an entry is a row of the log with the entry before and after. `undo` takes a batch
back by another batch, so that it can be taken back as well.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from npuforge.errors import UsageError
from npuforge.fileformat import KNOWLEDGE_STORE
from npuforge.knowledge.entry import Entry
from npuforge.knowledge.terms import indexed
from npuforge.knowledge.text import dump, parse
from npuforge.private import private_file, private_folder
from npuforge.untrusted.database import Schema, open_database, schema_of
from npuforge.untrusted.documents import convert

State = Literal["active", "unverified", "broken", "purged", "superseded"]
STATES: tuple[State, ...] = ("active", "unverified", "broken", "purged", "superseded")
_BUSY_S = 20.0
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Held:
    """An entry in a store; only active ones are served. `version` grows with every new text."""

    entry: Entry
    state: State
    version: int


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one entry; None where it did not exist."""

    number: int
    batch: int
    at: str
    action: str
    why: str
    entry: str
    before: tuple[State, str] | None
    after: tuple[State, str] | None
    undoes: int | None = None


@dataclass(frozen=True, slots=True)
class Put:
    """An entry that is to be as given."""

    entry: Entry
    state: State = "active"


class Store:
    """`with Store.open(path) as store:`; threads may share it, and processes the file."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None) -> None:
        self._db = connection
        self._lock = threading.RLock()
        self.path = path

    @staticmethod
    def open(path: Path | None, *, create: bool = True) -> Store:
        """The store in a file, made where there is none; in memory without a path."""
        if path is not None:
            if not create and not path.exists():
                raise UsageError(f"no such store: {path}")
            private_folder(path.parent)
            os.close(private_file(path, follow=True))  # what SQLite puts beside it is as private
        try:
            db = open_database(
                path,
                timeout=_BUSY_S,
                isolation_level=None,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise UsageError(f"cannot open {path}: {error}") from None
        store = Store(db, path)
        try:
            store._prepare()
        except UsageError:
            db.close()
            raise
        return store

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _prepare(self) -> None:
        """Make the tables of a new store; refuse a file that is none of ours.

        A stranger's file could hold views and triggers: nothing is asked of it before its schema is
        known to be ours, word for word.
        """
        self.rows("PRAGMA synchronous = NORMAL")
        self.rows("PRAGMA journal_mode = WAL")
        with self.transaction() as db:
            if not schema_of(db):
                _make_tables(db)
        with self._readable():
            found = schema_of(self._db)
        if "meta" not in found:
            raise UsageError(f"{self.path} is no store of knowledge")
        if found["meta"] == _schema()["meta"]:
            number = str(self.meta("format") or "")[:20]
            KNOWLEDGE_STORE.check(int(number) if number.isdecimal() else 0, self.path)
        if found != _schema():
            raise UsageError(f"{self.path} is no store of knowledge: it has other tables")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; others wait."""
        with self._lock, self._readable():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                if self._db.in_transaction:  # a full disk ends one by itself
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """Rows of a query."""
        with self._lock, self._readable():
            return self._db.execute(sql, parameters).fetchall()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Say in a line that the file is damaged, or cannot be used now."""
        try:
            yield
        except sqlite3.ProgrammingError:
            raise
        except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
            busy = isinstance(error, sqlite3.OperationalError)
            words = "cannot be used" if busy else "is no store of knowledge, or is damaged"
            raise UsageError(f"{self.path or 'the store'} {words}: {error}") from None

    # ---- what there is --------------------------------------------------------------------------
    def meta(self, key: str) -> str | None:
        """Return a setting."""
        found = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(found[0][0]) if found else None

    def set_meta(self, key: str, value: str) -> None:
        with self.transaction() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @property
    def revision(self) -> int:
        """Another number after every change of entries, whoever made it."""
        number = (self.meta("revision") or "0")[:20]
        return int(number) if number.isdecimal() else 0

    def find(self, entry_id: str) -> Held | None:
        found = self.rows("SELECT text, state, version FROM entries WHERE id = ?", (entry_id,))
        return _held(found[0]) if found else None

    def get(self, entry_id: str) -> Held:
        """`UsageError` where there is none of that id."""
        held = self.find(entry_id)
        if held is None:
            raise UsageError(f"no entry {entry_id!r} in the store")
        return held

    def entries(self, state: State | None = "active") -> list[Held]:
        """All of a state (None: of any), by id."""
        where = "" if state is None else "WHERE state = ?"
        given = () if state is None else (state,)
        sql = f"SELECT text, state, version FROM entries {where} ORDER BY id"
        return [_held(row) for row in self.rows(sql, given)]

    def counts(self) -> dict[State, int]:
        found = dict(self.rows("SELECT state, count(*) FROM entries GROUP BY state"))
        return {state: found.get(state, 0) for state in STATES}

    # ---- changes --------------------------------------------------------------------------------
    def change(self, action: str, why: str, puts: Iterable[Put]) -> int | None:
        """One batch in one transaction; its number, or None where everything was so already."""
        with self.transaction() as db:
            batch = _next_batch(db)
            changed = [self._put(db, batch, action, why, put) for put in puts]
            return batch if any(changed) else None

    def undo(self, batch: int | None = None) -> list[Change]:
        """Take a batch back (the last one that is not taken back already); what it changed.

        `UsageError` where an entry changed again since: later batches are undone first.
        """
        with self.transaction() as db:
            wanted = batch if batch is not None else _last_batch(db)
            if wanted is None:
                raise UsageError("there is no change to undo")
            rows = self.changes(batch=wanted)
            if not rows:
                raise UsageError(f"no change {wanted}")
            if db.execute("SELECT 1 FROM changes WHERE undoes = ?", (wanted,)).fetchone():
                raise UsageError(f"change {wanted} is undone already")
            number = _next_batch(db)
            for row in reversed(rows):
                later = db.execute(
                    "SELECT batch FROM changes WHERE entry = ? AND number > ? AND batch != ?"
                    " ORDER BY number DESC LIMIT 1",
                    (row.entry, row.number, wanted),
                ).fetchone()
                if later is not None and _current(db, row.entry) != row.after:
                    raise UsageError(f"{row.entry} changed again in {later[0]}: undo that first")
                _log(db, number, "undo", f"change {wanted}", row.entry, row.before, wanted)
                _write(db, row.entry, row.before, None)
            _touch(db)
            return rows

    def changes(
        self, *, batch: int | None = None, entry: str | None = None, last: int | None = None
    ) -> list[Change]:
        """The log, oldest first: all, of one batch, of one entry, or the `last` rows."""
        where = "batch = :batch" if batch is not None else "entry = :entry" if entry else "1"
        limit = f"LIMIT {int(last)}" if last is not None else ""
        sql = f"SELECT * FROM changes WHERE {where} ORDER BY number DESC {limit}"
        found = self.rows(sql, {"batch": batch, "entry": entry})
        return [_change(row) for row in reversed(found)]

    @staticmethod
    def _put(db: sqlite3.Connection, batch: int, action: str, why: str, put: Put) -> bool:
        entry = put.entry
        if put.state == "active" and not entry.verified:
            raise UsageError(f"{entry.id} has no evidence for its programs: it cannot be active")
        after = (put.state, dump(entry))
        if _current(db, entry.id) == after:
            return False
        _log(db, batch, action, why, entry.id, after, None)
        _write(db, entry.id, after, entry)
        _touch(db)
        return True


def default_path(environment: Mapping[str, str] | None = None) -> Path:
    """The user's own store: NPUFORGE_KNOWLEDGE, else in the data folder."""
    around = os.environ if environment is None else environment
    if around.get("NPUFORGE_KNOWLEDGE"):
        return Path(around["NPUFORGE_KNOWLEDGE"])
    data = around.get("XDG_DATA_HOME") or str(Path(around.get("HOME", "~")) / ".local" / "share")
    return Path(data).expanduser() / "npuforge" / "knowledge.sqlite"


def now() -> str:
    """The time that rows carry."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class _EntryRow(msgspec.Struct, frozen=True):
    """A row of `entries` as it has to be: SQLite itself keeps any type in any column."""

    text: str
    state: State
    version: int


class _ChangeRow(msgspec.Struct, frozen=True):
    """A row of `changes` as it has to be."""

    number: int
    batch: int
    at: str
    action: str
    why: str
    entry: str
    before_state: State | None
    before_text: str | None
    after_state: State | None
    after_text: str | None
    undoes: int | None


def typed(row: Sequence[Any], form: type[_T]) -> _T:
    """Return the row as an object of the type `form`; `UsageError` if it does not fit."""
    names = form.__struct_fields__  # type: ignore[attr-defined]
    return convert(dict(zip(names, row, strict=True)), form, "a row of the store of knowledge")


def _held(row: Sequence[Any]) -> Held:
    found = typed(row, _EntryRow)
    return Held(parse(found.text), found.state, found.version)


def _change(row: Sequence[Any]) -> Change:
    found = typed(row, _ChangeRow)
    before = after = None
    if found.before_state is not None and found.before_text is not None:
        before = (found.before_state, found.before_text)
    if found.after_state is not None and found.after_text is not None:
        after = (found.after_state, found.after_text)
    return Change(
        found.number, found.batch, found.at, found.action, found.why, found.entry, before, after,
        found.undoes,
    )  # fmt: skip


def _current(db: sqlite3.Connection, entry_id: str) -> tuple[State, str] | None:
    row = db.execute("SELECT state, text FROM entries WHERE id = ?", (entry_id,)).fetchone()
    return (row[0], row[1]) if row else None


def _log(
    db: sqlite3.Connection,
    batch: int,
    action: str,
    why: str,
    entry_id: str,
    after: tuple[State, str] | None,
    undoes: int | None,
) -> None:
    before = _current(db, entry_id)
    db.execute(
        "INSERT INTO changes VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (batch, now(), action, why, entry_id, *(before or (None, None)),
         *(after or (None, None)), undoes),
    )  # fmt: skip


def _write(
    db: sqlite3.Connection, entry_id: str, after: tuple[State, str] | None, entry: Entry | None
) -> None:
    """The tables as the last row of the log says; `entry` is that of the text, if it is at hand."""
    row = db.execute("SELECT number, text FROM entries WHERE id = ?", (entry_id,)).fetchone()
    number, text = row or (None, None)
    if after is not None and text == after[1]:
        db.execute("UPDATE entries SET state = ? WHERE number = ?", (after[0], number))
        return
    if text is not None:  # an index without content is told what to take out
        db.execute(
            "INSERT INTO words (words, rowid, head, code) VALUES ('delete', ?, ?, ?)",
            (number, *indexed(parse(text))),
        )
        db.execute("DELETE FROM vectors WHERE number = ?", (number,))
    if after is None:
        db.execute("DELETE FROM entries WHERE number = ?", (number,))
        return
    version = _count(db, "SELECT count(*) FROM changes WHERE entry = ?", entry_id)
    entry = entry or parse(after[1])
    scope = msgspec.json.encode(entry.scope).decode()
    head, code = indexed(entry)
    terms = len(head.split()) + len(code.split())
    written = db.execute(
        "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)",
        (number, entry_id, version, *after, scope, terms),
    )
    db.execute(
        "INSERT INTO words (rowid, head, code) VALUES (?, ?, ?)", (written.lastrowid, head, code)
    )


def _next_batch(db: sqlite3.Connection) -> int:
    return 1 + _count(db, "SELECT coalesce(max(batch), 0) FROM changes")


def _last_batch(db: sqlite3.Connection) -> int | None:
    row = db.execute(
        "SELECT max(batch) FROM changes WHERE undoes IS NULL"
        " AND batch NOT IN (SELECT undoes FROM changes WHERE undoes IS NOT NULL)"
    ).fetchone()
    return row[0] if row else None


def _touch(db: sqlite3.Connection) -> None:
    db.execute("UPDATE meta SET value = value + 1 WHERE key = 'revision'")


def _count(db: sqlite3.Connection, sql: str, *parameters: Any) -> int:
    return int(db.execute(sql, parameters).fetchone()[0])


def _make_tables(db: sqlite3.Connection) -> None:
    schema = files(__package__).joinpath("schema.sql").read_text("utf-8")
    for statement in _statements(schema):
        db.execute(statement)
    first = [("format", str(KNOWLEDGE_STORE.number)), ("revision", "0")]
    db.executemany("INSERT INTO meta VALUES (?, ?)", first)


@cache
def _schema() -> Schema:
    """Return the schema of a new store."""
    with closing(sqlite3.connect(":memory:")) as db:
        _make_tables(db)
        return schema_of(db)


def _statements(schema: str) -> Iterator[str]:
    """`executescript` would commit in between."""
    held = ""
    for line in schema.splitlines(keepends=True):
        held += line.partition("--")[0] + "\n"
        if sqlite3.complete_statement(held):
            yield held
            held = ""
