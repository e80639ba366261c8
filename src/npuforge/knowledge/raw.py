# SPDX-License-Identifier: Apache-2.0
"""A store as it would be without distillation: for ablations."""

from __future__ import annotations

from npuforge.knowledge.store import Put, Store
from npuforge.knowledge.text import parse


def undistilled(store: Store) -> Store:
    """A store in memory with every entry as it was first written, whatever became of it."""
    first: dict[str, str] = {}
    for change in store.changes():
        if change.after is not None:
            first.setdefault(change.entry, change.after[1])
    raw = Store.open(None)
    entries = [parse(text) for text in first.values()]
    raw.change("undistilled", "as first written", [Put(e, "active") for e in entries if e.verified])
    return raw
