# SPDX-License-Identifier: Apache-2.0
"""Record a tree: take items from the store, record the others and keep them there."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.recording.folder import Recording
from tools.recording.items import Item, items_of
from tools.recording.pool import record_items
from tools.recording.store import Store, Texts, item_key, machine
from tools.recording.tree import check_tree, revision_of, source_digest


@dataclass(frozen=True, slots=True)
class Request:
    """Settings of a recording; `fresh` records again what the store has."""

    store: Store
    patterns: Sequence[str] = ()
    jobs: int = 1
    fresh: bool = False


def record_tree(tree: Path, request: Request, commit: str | None = None) -> Recording:
    """Record a tree, with its progress on standard error."""
    tree = check_tree(tree)
    sources = source_digest(tree)
    items = items_of(tree, request.patterns)
    keys = {item.name: item_key(item, sources) for item in items}
    known: dict[str, Texts] = {}
    if not request.fresh:
        found = {item.name: request.store.find(keys[item.name]) for item in items}
        known = {name: texts for name, texts in found.items() if texts is not None}
    waiting = [item for item in items if item.name not in known]
    started = time.monotonic()
    _say(f"{tree}: {len(items)} items, {len(known)} recorded before")

    def keep(item: Item, texts: Mapping[str, str] | None, seconds: float) -> None:
        if texts is not None:
            request.store.add(keys[item.name], texts)
            known[item.name] = texts
        count = f"{len(known)}/{len(items)}"
        _say(f"{time.monotonic() - started:7.1f} s  {count:>8}  {item.name}  {seconds:.1f} s")

    if waiting:
        record_items(tree, waiting, request.jobs, keep)
    missing = tuple(item.name for item in items if item.name not in known)
    ordered = {item.name: known[item.name] for item in items if item.name in known}
    return Recording(sources, commit or revision_of(tree), machine(), ordered, missing)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
