# SPDX-License-Identifier: Apache-2.0
"""The entries that come with npuforge, and how a store gets them.

A store takes each of them once. What became of it there (a boundary, a purge) stays; an entry whose
text is still as it was shipped follows the shipped text when that changes.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

from npuforge.knowledge.entry import Entry
from npuforge.knowledge.store import Put, Store, default_path
from npuforge.knowledge.text import dump, parse, read

ACTION = "shipped"


def folder() -> Path:
    """Where the files are, each named like its entry."""
    return Path(str(files(__package__))) / "base"


def entries() -> tuple[Entry, ...]:
    """All of them, by id."""
    return tuple(read(path) for path in sorted(folder().glob("*.md")))


def open_store(path: Path | None = None) -> Store:
    """The store at `path` (the user's own without one) with everything that is shipped."""
    store = Store.open(path or default_path())
    take(store)
    return store


def take(store: Store) -> None:
    """Bring in what is shipped and not there yet."""
    sources = [path.read_bytes() for path in sorted(folder().glob("*.md"))]
    digest = hashlib.sha256(b"\0".join(sources)).hexdigest()
    if store.meta(ACTION) == digest:
        return
    store.change(ACTION, "it comes with npuforge", list(_wanted(store)))
    store.set_meta(ACTION, digest)


def _wanted(store: Store) -> list[Put]:
    found = []
    for entry in entries():
        log = store.changes(entry=entry.id)
        taken = [change.after[1] for change in log if change.action == ACTION and change.after]
        held = store.find(entry.id)
        if held is None and not log:
            found.append(Put(entry, "active" if entry.verified else "unverified"))
        elif held is not None and taken and dump(held.entry) == taken[-1]:
            usual = parse(taken[-1]) != entry and held.state in ("active", "unverified")
            if usual:
                found.append(Put(entry, "active" if entry.verified else "unverified"))
    return found
