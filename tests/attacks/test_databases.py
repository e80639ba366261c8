# SPDX-License-Identifier: Apache-2.0
"""SQLite files of strangers: a run folder or a store of knowledge that somebody else made."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from npuforge.bench.settings import Settings
from npuforge.bench.store import FILE
from npuforge.bench.store import Store as Run
from npuforge.bench.task import Task
from npuforge.errors import UsageError
from npuforge.knowledge.store import Store as Knowledge

_MAGIC = bytes.fromhex("d9d505f920a163d7")
_PAGE = 4096
_ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*)"


def _run(folder: Path) -> Path:
    Run.create(folder, Settings(suite="forge"), [Task("a", "math", 1, folder)]).close()
    return folder / FILE


def _knowledge(folder: Path) -> Path:
    path = folder / "knowledge.sqlite"
    Knowledge.open(path).close()
    return path


def _open(path: Path) -> None:
    if path.name == FILE:
        Run(path.parent).close()
    else:
        Knowledge.open(path).close()


def _journal(path: Path, victim: Path) -> None:
    """Leave a journal as of a change of several files at once: SQLite removes the one it names."""
    pages = path.stat().st_size // _PAGE
    numbers = (0, 1, pages, 512, _PAGE)
    head = _MAGIC + b"".join(number.to_bytes(4, "big") for number in numbers)
    name = str(victim).encode()
    words = ((0x40000000 // _PAGE) + 1, len(name), sum(name))
    page, length, total = (word.to_bytes(4, "big") for word in words)
    journal = path.with_name(f"{path.name}-journal")
    journal.write_bytes(head.ljust(512, b"\0") + page + name + length + total + _MAGIC)


@pytest.mark.parametrize("make", [_run, _knowledge])
def test_a_journal_removes_no_other_file(tmp_path: Path, make: object) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    assert callable(make)
    path = make(tmp_path / "made")
    _journal(path, victim)
    with pytest.raises(UsageError, match="names another file"):
        _open(path)
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("make", [_run, _knowledge])
@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
def test_what_lies_beside_is_a_plain_file(tmp_path: Path, make: object, end: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    assert callable(make)
    path = make(tmp_path / "made")
    path.with_name(path.name + end).symlink_to(victim)
    with pytest.raises(UsageError, match=end):
        _open(path)
    assert victim.read_text() == "precious"


@pytest.mark.parametrize(
    "change",
    [
        f"DROP TABLE run; CREATE VIEW run AS {_ENDLESS} AS settings FROM c;",
        "CREATE TRIGGER t AFTER INSERT ON attempts BEGIN DELETE FROM attempts; END;",
        "CREATE TABLE more (x);",
    ],
)
def test_a_run_has_the_tables_of_a_run(tmp_path: Path, change: str) -> None:
    path = _run(tmp_path / "made")
    with closing(sqlite3.connect(path)) as base:
        base.executescript(change)
    with pytest.raises(UsageError, match="other tables"):
        _open(path)


def test_a_journal_of_a_killed_run_is_rolled_back(tmp_path: Path) -> None:
    path = _run(tmp_path / "made")
    with closing(sqlite3.connect(path)) as base:
        base.execute("BEGIN IMMEDIATE")
        base.execute("INSERT INTO attempts VALUES ('a', 0, 'x')")
        base.execute("PRAGMA cache_spill = 1")
        copy = tmp_path / "copy"
        copy.mkdir()
        for file in path.parent.iterdir():
            (copy / file.name).write_bytes(file.read_bytes())
    with Run(copy) as run:
        assert run.done() == set()
