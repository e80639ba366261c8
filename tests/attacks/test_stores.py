# SPDX-License-Identifier: Apache-2.0
"""Recordings and stores: nobody else reads them, and what a stranger put there does no harm."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.knowledge.entries import LAUNCH, entry, proven
from tests.models.server import chat, serving

from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.knowledge.embed.hashed import HashedEmbedder
from npuforge.knowledge.index import Index
from npuforge.knowledge.outcomes import record_of
from npuforge.knowledge.store import Put, Store
from npuforge.knowledge.text import dump, parse, read
from npuforge.knowledge.verify import RefusedError, evidence_of
from npuforge.models import Client, Endpoint, Message
from npuforge.models.cassette import FILE, Recorder
from npuforge.models.cassette import read as recorded

ASKED = [Message("user", "Write one.")]


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    with Store.open(path) as made:
        made.change("add", "a test", [Put(proven()), Put(proven("another"))])
        index = Index(made, HashedEmbedder())
        index.ready()
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("open_umask")
def test_nobody_else_reads_a_recording(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / FILE
    with serving(chat("x")) as served:
        for _ in range(2):
            with Client(Endpoint(model="m", base_url=served.base), record=file) as client:
                client.ask(ASKED)
            assert mode(file) == 0o600
            file.chmod(0o666)
    assert mode(file.parent) == mode(file.parent.parent) == 0o700
    assert len(recorded(file)) == 2


@pytest.mark.usefixtures("open_umask")
def test_nobody_else_reads_a_store(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "store.sqlite"
    with Store.open(path) as made:
        made.change("add", "a test", [Put(proven())])
        assert {mode(file) for file in path.parent.iterdir()} == {0o600}
        assert len(list(path.parent.iterdir())) > 1  # what SQLite keeps beside it
    assert mode(path.parent) == 0o700
    path.chmod(0o666)
    Store.open(path).close()
    assert mode(path) == 0o600


def test_a_recording_writes_through_no_link_and_waits_for_no_pipe(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("untouched")
    (tmp_path / "link").symlink_to(precious)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(UsageError, match="cannot write"):
            Recorder(tmp_path / name)
    assert precious.read_text() == "untouched"
    with pytest.raises(UsageError, match="not a plain file"):
        recorded(tmp_path / "pipe")


def test_a_torn_line_does_not_spoil_the_next(tmp_path: Path) -> None:
    file = tmp_path / FILE
    with serving(chat("x")) as served:
        for _ in range(3):
            with Client(Endpoint(model="m", base_url=served.base), record=file) as client:
                client.ask(ASKED)
            with file.open("ab") as torn:
                torn.write(b'{"request": {"messages"')
    assert [exchange.reply.text for exchange in recorded(file)] == ["x", "x", "x"]


def overwritten(path: Path, start: int, octets: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(octets)


def changed(sql: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db, db:
            db.executescript(sql)

    return change


DAMAGE: dict[str, Callable[[Path], None]] = {
    "empty pages": lambda path: overwritten(path, 4096, bytes(path.stat().st_size - 4096)),
    "noise": lambda path: overwritten(path, 4096, bytes(range(256)) * 200),
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2),
    "a few bytes": lambda path: os.truncate(path, 50),
    "a text": lambda path: overwritten(path, 0, b"no store " * 1000),
    "a header": lambda path: overwritten(path, 16, b"\xff" * 80),
    "another format": changed("UPDATE meta SET value = '99' WHERE key = 'format'"),
    "digits": changed(f"UPDATE meta SET value = '{'9' * 6000}' WHERE key = 'format'"),
    "no tables": changed("DROP TABLE entries"),
    "foreign tables": changed("DROP TABLE meta; CREATE TABLE mine (x)"),
    "a trigger": changed("CREATE TRIGGER t AFTER INSERT ON uses BEGIN DELETE FROM entries; END"),
    "a view": changed(
        "DROP TABLE uses; CREATE VIEW uses AS WITH RECURSIVE n(i) AS"
        " (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS number, i AS entry, i AS use FROM n"
    ),
    "a state": changed(
        "UPDATE entries SET state = 'trusted'; UPDATE changes SET after_state = 'x'"
    ),
    "a number as text": changed("UPDATE entries SET text = 12345, scope = 1"),
    "a blob as text": changed("UPDATE entries SET text = x'ff00ff', scope = x'ff'"),
    "a bomb": changed("UPDATE entries SET text = zeroblob(40000000)"),
    "nesting": changed(f"UPDATE entries SET scope = '{'[' * 50_000}', text = '+++\n{'[' * 9000}'"),
    "a huge number": changed("UPDATE entries SET number = 4611686018427387904 WHERE number = 1"),
    "negative terms": changed("UPDATE entries SET terms = -5"),
    "odd vectors": changed("UPDATE vectors SET vector = x'010203' WHERE number = 1"),
    "vectors of text": changed("UPDATE vectors SET vector = 'words'"),
    "uses": changed(
        "INSERT INTO uses VALUES (NULL, 'now', 'short-rows', 't', 'helped', '{\"entry\": 1}')"
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_or_foreign_store_is_one_line(store: Path, kind: str) -> None:
    DAMAGE[kind](store)

    def used() -> None:
        with Store.open(store) as opened:
            index = Index(opened, HashedEmbedder())
            index.ready()
            for entry in opened.entries(None):
                record_of(opened, entry.entry.id)
            record_of(opened, "short-rows")
            opened.changes()
            opened.change("add", "again", [Put(proven("third"))])

    if kind in ("empty pages", "truncated", "noise"):  # what of it is met depends on its layout
        with suppress(UsageError):
            used()
        return
    with pytest.raises(UsageError) as caught:
        used()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("kind", ["a text", "a header", "foreign tables", "a trigger", "a view"])
def test_the_command_line_says_so_in_a_line(
    store: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    DAMAGE[kind](store)
    assert main(["knowledge", "stats", "--store", str(store)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_no_store(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "store"
    if kind == "folder":
        place.mkdir()
    else:
        os.mkfifo(place)
    with pytest.raises(UsageError, match="cannot write"):
        Store.open(place)


TEXT = dump(proven())


@pytest.mark.parametrize(
    "hostile",
    [
        "+++\nx = " + "[" * 50_000 + "\n+++\n",
        "+++\n" + "a." * 20_000 + "b = 1\n+++\n",
        "+++\nx = 1" + "0" * 6000 + "\n+++\n",
        "x" * 10_000_000,
        TEXT.replace("short-rows", "../../../etc/passwd"),
        TEXT.replace("short-rows", "a" * 300),
        TEXT.replace("short-rows", "a\\u0000b"),
        TEXT + "## heading\n" * 30_000,
        TEXT + "## x" + " " * 150_000 + "y\n",
    ],
    ids=["nesting", "keys", "digits", "size", "path", "long", "nul", "headings", "blanks"],
)
def test_an_entry_is_hostile_input(tmp_path: Path, hostile: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(hostile)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000
    (tmp_path / "short-rows.md").write_text(hostile)
    with pytest.raises(UsageError):
        read(tmp_path / "short-rows.md")


def test_an_entry_is_read_from_plain_files_only(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "short-rows.md")
    with pytest.raises(UsageError, match="not a plain file"):
        read(tmp_path / "short-rows.md")


@pytest.mark.parametrize(
    "tolerance",
    ["rtol = 0.1", "atol = 1.0", "mismatches = 0.01", "rtol = inf", "atol = 1e30", "atol = nan"],
)
@pytest.mark.parametrize("place", ["case", "output"])
def test_an_entry_is_not_judged_as_it_likes(tolerance: str, place: str) -> None:
    table = f"{{ {tolerance} }}"
    case = f"tolerance = {table}\n{LAUNCH}"
    output = LAUNCH.replace('y = "x"', f'y = {{ expression = "x", tolerance = {table} }}')
    launch = case if place == "case" else output
    with pytest.raises(RefusedError, match="tolerance"):
        evidence_of(entry(launch=launch))
