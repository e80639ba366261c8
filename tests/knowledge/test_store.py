# SPDX-License-Identifier: Apache-2.0
"""Stores: every change is logged and can be taken back; what has no evidence is not served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.knowledge.entries import proven

from npuforge.errors import UsageError
from npuforge.knowledge import shipped
from npuforge.knowledge.boundary import Boundary
from npuforge.knowledge.entry import Entry
from npuforge.knowledge.store import STATES, Put, State, Store, default_path


def _names(store: Store, *terms: str) -> list[int]:
    match = " ".join(f'"{term}"' for term in terms)
    return [row[0] for row in store.rows("SELECT rowid FROM words WHERE words MATCH ?", (match,))]


def test_what_is_put_is_there_and_logged(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "store.sqlite"
    with Store.open(path) as store:
        assert store.change("add", "a test", [Put(proven())]) == 1
        assert store.change("add", "again", [Put(proven())]) is None
    with Store.open(path, create=False) as store:
        held = store.get("short-rows")
        assert (held.entry, held.state) == (proven(), "active")
        [change] = store.changes()
        assert (change.action, change.why, change.before) == ("add", "a test", None)
        assert store.rows("PRAGMA journal_mode") == [("wal",)]
        assert store.counts()["active"] == 1
        assert _names(store, "aln_01")
        assert _names(store, "pad")


def test_nothing_is_active_without_evidence() -> None:
    with Store.open(None) as store:
        with pytest.raises(UsageError, match="has no evidence"):
            store.change("add", "", [Put(proven()), Put(proven("other", evidence=None))])
        assert store.find("short-rows") is None  # nothing of the batch is there
        assert store.changes() == []
        store.change("add", "", [Put(proven("other", evidence=None), "unverified")])
        assert [held.entry.id for held in store.entries("unverified")] == ["other"]
        assert store.entries() == []


def test_a_batch_is_undone_as_a_whole() -> None:
    with Store.open(None) as store:
        store.change("add", "", [Put(proven("a")), Put(proven("b"))])
        merged = proven("c", title="Both in one")
        batch = store.change(
            "merge",
            "",
            [Put(proven("a"), "superseded"), Put(proven("b"), "superseded"), Put(merged)],
        )
        assert [held.entry.id for held in store.entries()] == ["c"]
        undone = store.undo()
        assert {change.entry for change in undone} == {"a", "b", "c"}
        assert [held.entry.id for held in store.entries()] == ["a", "b"]
        assert store.find("c") is None
        assert not _names(store, "both", "one")
        with pytest.raises(UsageError, match="undone already"):
            store.undo(batch)
        store.undo()
        assert store.entries(None) == []
        with pytest.raises(UsageError, match="no change to undo"):
            store.undo()
        with pytest.raises(UsageError, match="no change 77"):
            store.undo(77)
        assert len(store.changes()) == 10
        assert len(store.changes(last=3)) == 3


def test_a_later_change_is_undone_first() -> None:
    with Store.open(None) as store:
        first = store.change("add", "", [Put(proven())])
        bounded = proven(boundary=(Boundary("row", "<= 8", "why"),))
        second = store.change("bound", "", [Put(bounded)])
        assert store.get("short-rows").version == 2
        with pytest.raises(UsageError, match=f"changed again in {second}"):
            store.undo(first)
        store.undo(second)
        assert store.get("short-rows").entry == proven()
        store.undo(first)
        assert store.find("short-rows") is None


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(STATES),
        st.sampled_from(["One thing", "Another thing"]),
    ),
    min_size=1,
    max_size=8,
)


@given(st.lists(_STEPS, min_size=1, max_size=5))
@settings(max_examples=30, deadline=None)
def test_undoing_everything_in_turn_leads_back(batches: list[list[tuple[str, State, str]]]) -> None:
    with Store.open(None) as store:
        snapshots = [_all(store)]
        for steps in batches:
            puts = [Put(proven(name, title=title), state) for name, state, title in steps]
            if store.change("set", "", puts) is not None:
                snapshots.append(_all(store))
        while len(snapshots) > 1:
            assert _all(store) == snapshots.pop()
            store.undo()
        assert _all(store) == {}
        assert _names(store, "thing") == []


def _all(store: Store) -> dict[str, tuple[State, Entry]]:
    return {held.entry.id: (held.state, held.entry) for held in store.entries(None)}


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_text("no database, but a text that is long enough to look at" * 20, "utf-8")
    with pytest.raises(UsageError, match="is no store of knowledge"):
        Store.open(path)
    with pytest.raises(UsageError, match="no such store"):
        Store.open(tmp_path / "none", create=False)
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(UsageError, match="cannot make"):
        Store.open(tmp_path / "file" / "store.sqlite")
    newer = tmp_path / "newer.sqlite"
    with Store.open(newer) as store:
        store.set_meta("format", "99")
    with pytest.raises(UsageError, match="store of knowledge 99, this one reads 1"):
        Store.open(newer)


def test_a_change_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def half(store: Store) -> None:
        with store.transaction() as db:
            db.execute("INSERT INTO meta VALUES ('half', 'done')")
            db.execute("INSERT INTO nowhere VALUES (1)")

    path = tmp_path / "store.sqlite"
    with Store.open(path) as store, pytest.raises(UsageError, match="nowhere"):
        half(store)
    with Store.open(path) as store:
        assert store.meta("half") is None


def test_the_place_of_a_store() -> None:
    assert default_path({"NPUFORGE_KNOWLEDGE": "/a/b"}) == Path("/a/b")
    assert default_path({"XDG_DATA_HOME": "/d"}) == Path("/d/npuforge/knowledge.sqlite")
    assert default_path({"HOME": "/h"}) == Path("/h/.local/share/npuforge/knowledge.sqlite")


def test_shipped_entries_come_once_and_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "base"
    folder.mkdir()
    monkeypatch.setattr(shipped, "folder", lambda: folder)

    def ship(*entries: Entry) -> None:
        from npuforge.knowledge.text import dump  # noqa: PLC0415

        for entry in entries:
            (folder / f"{entry.id}.md").write_text(dump(entry), "utf-8")

    def titles(store: Store) -> dict[str, Any]:
        return {held.entry.id: (held.entry.title, held.state) for held in store.entries(None)}

    path = tmp_path / "store.sqlite"
    ship(proven("a"), proven("b"), proven("c", evidence=None))
    with shipped.open_store(path) as store:
        assert {name: state for name, (_, state) in titles(store).items()} == {
            "a": "active", "b": "active", "c": "unverified",
        }  # fmt: skip
        bounded = msgspec.structs.replace(proven("b"), boundary=(Boundary("row", "<= 8", "why"),))
        store.change("bound", "", [Put(bounded)])
        assert len(store.changes()) == 4
    ship(proven("a", title="New"), proven("b", title="New"), proven("d"))
    with shipped.open_store(path) as store:
        found = titles(store)
        assert found["a"] == ("New", "active")
        assert found["b"] == (proven().title, "active")  # what became of it here stays
        assert "d" in found
        store.change("purge", "", [Put(store.get("d").entry, "purged")])
    ship(proven("d", title="Newer"))
    with shipped.open_store(path) as store:
        assert titles(store)["d"] == (proven().title, "purged")
