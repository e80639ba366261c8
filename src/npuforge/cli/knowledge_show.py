# SPDX-License-Identifier: Apache-2.0
"""Knowledge as JSON and on the screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from npuforge.knowledge.distill.decision import Decision
from npuforge.knowledge.embed.packaged import installed
from npuforge.knowledge.outcomes import Record, totals
from npuforge.knowledge.retrieve import Form, Served
from npuforge.knowledge.store import Change, Held, Store
from npuforge.knowledge.text import dump

if TYPE_CHECKING:
    from rich.table import Table


def as_json(found: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()


def served(one: Served, form: Form) -> dict[str, Any]:
    return {
        "id": one.entry.id,
        "title": one.entry.title,
        "score": round(one.score, 6),
        "name_rank": one.name_rank,
        "meaning_rank": one.meaning_rank,
        "text": one.shown(form),
    }


def held_entry(held: Held, log: Sequence[Change], record: Record) -> dict[str, Any]:
    return {
        "state": held.state,
        "version": held.version,
        "entry": held.entry,
        "text": dump(held.entry),
        "changes": [
            {
                "number": change.batch,
                "at": change.at,
                "action": change.action,
                "why": change.why,
                "state": change.after[0] if change.after is not None else None,
            }
            for change in log
        ],
        "uses": [{"effect": use.effect, **msgspec.to_builtins(use)} for use in record.uses],
    }


def decision_of(one: Decision) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "entries": one.entries,
        "action": one.action,
        "why": one.why,
        "by": one.by,
    }


def changes(log: Sequence[Change]) -> str:
    """A line for each row of the log."""
    lines = []
    for change in log:
        before = change.before[0] if change.before is not None else "-"
        after = change.after[0] if change.after is not None else "-"
        states = before if before == after else f"{before} -> {after}"
        said = f" ({change.why})" if change.why else ""
        lines.append(
            f"{change.batch:>5}  {change.at}  {change.action} {change.entry}: {states}{said}\n"
        )
    return "".join(lines)


def figures(store: Store, embedder: str) -> dict[str, Any]:
    """Counts of everything; `embedder` is the one that a search would use now."""
    entries = [held.entry for held in store.entries()]
    made = store.rows("SELECT embedder, count(*) FROM vectors GROUP BY embedder")
    return {
        "store": str(store.path),
        "entries": store.counts(),
        "languages": dict(Counter(entry.language for entry in entries)),
        "criteria": dict(Counter(entry.criterion for entry in entries)),
        "tags": dict(Counter(tag for entry in entries for tag in entry.tags).most_common()),
        "rules": len({rule for entry in entries for rule in entry.rules}),
        "boundaries": sum(len(entry.boundary) for entry in entries),
        "versions": dict(Counter(e.evidence.version for e in entries if e.evidence is not None)),
        "uses": totals(store),
        "changes": store.rows("SELECT count(*) FROM changes")[0][0],
        "embedder": embedder,
        "packaged_model": installed(),
        "vectors": dict(made),
    }


def figures_table(found: dict[str, Any]) -> Table:
    from rich.table import Table  # noqa: PLC0415 (rich is slow to import)

    table = Table(show_header=False, box=None)
    table.add_column(style="bold")
    table.add_column()
    for name, value in found.items():
        shown = value
        if isinstance(value, dict):
            shown = ", ".join(f"{key} {count}" for key, count in value.items() if count) or "none"
        elif name == "packaged_model":
            shown = "installed" if value else "not installed: letters stand in for meaning"
        table.add_row(name.replace("_", " "), str(shown))
    return table
