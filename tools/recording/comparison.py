# SPDX-License-Identifier: Apache-2.0
"""Two recordings item by item: identical, equal but for names or comments, or changed."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tools.recording.folder import Recording
from tools.recording.names import equal_but_for_names
from tools.recording.store import Texts

State = Literal["identical", "names", "comments", "changed"]
STATES: Mapping[State, str] = {
    "identical": "identical",
    "names": "equal but for names",
    "comments": "equal but for comments",
    "changed": "changed",
}
_LIMIT = re.compile(r"stopped: over the (?:wall|cpu) time limit")
_JUDGED = ("verdict", "times", "check", "profile")  # what comes of a run
_MEASURES = ("max_abs", "max_rel", "message")  # of a case: the last bits are the processor's


@dataclass(frozen=True, slots=True)
class ItemComparison:
    """One item. `limited`: a run of it was stopped for its time, and what runs say is left out."""

    name: str
    state: State
    first: Texts
    second: Texts
    limited: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """All items, in the first recording's order; `elsewhere` where the machines differ."""

    first: Recording
    second: Recording
    items: tuple[ItemComparison, ...]
    elsewhere: bool

    @property
    def changed(self) -> bool:
        """Tell whether an item changed or could not be recorded."""
        missing = self.first.missing or self.second.missing
        return bool(missing) or any(item.state == "changed" for item in self.items)


def compare_recordings(first: Recording, second: Recording) -> Comparison:
    """Compare every item that either recording has."""
    elsewhere = dict(first.machine) != dict(second.machine)
    names = dict.fromkeys([*first.items, *second.items])
    items = (
        compare_items(name, first.items.get(name, {}), second.items.get(name, {}), elsewhere)
        for name in names
    )
    return Comparison(first, second, tuple(items), elsewhere)


def compare_items(
    name: str, first: Texts, second: Texts, elsewhere: bool = False
) -> ItemComparison:
    """Compare one item; an item without texts is one that a recording lacks."""
    limited = any(_LIMIT.search(text) for side in (first, second) for text in side.values())
    first, second = (_compared(side, limited, elsewhere) for side in (first, second))
    if dict(first) == dict(second):
        state: State = "identical"
    elif equal_but_for_names(first, second):
        state = "names"
    else:
        state = "comments" if equal_but_for_names(first, second, comments=False) else "changed"
    return ItemComparison(name, state, first, second, limited)


def _compared(texts: Texts, limited: bool, elsewhere: bool) -> Texts:
    """Return the texts that two recordings can have in common."""
    kept = dict(sorted(texts.items()))
    if limited:
        kept = {path: text for path, text in kept.items() if not path.startswith(_JUDGED)}
    if elsewhere:
        kept = {
            path: _without_measures(text) if path.endswith("verdict.json") else text
            for path, text in kept.items()
        }
    return kept


def _without_measures(verdict: str) -> str:
    entries: dict[str, Any] = json.loads(verdict)
    for case in entries.get("cases", []):
        for name in _MEASURES:
            case.pop(name, None)
    return json.dumps(entries, indent=1) + "\n"


def report(comparison: Comparison, lines: int) -> str:
    """The comparison to read: counts, then each difference with at most `lines` lines."""
    return "".join(f"{line}\n" for line in _report(comparison, lines))


def _report(comparison: Comparison, lines: int) -> Iterator[str]:
    first, second = comparison.first, comparison.second
    counts = [
        f"{sum(item.state == state for item in comparison.items)} {words}"
        for state, words in STATES.items()
    ]
    yield f"{first.title} and {second.title}: {len(comparison.items)} items, {', '.join(counts)}"
    if comparison.elsewhere:
        yield f"other machines: {', '.join(_MEASURES)} of the cases are left out"
    for recording in (first, second):
        for name in recording.missing:
            yield f"{name}: not recorded from {recording.title}"
    for item in comparison.items:
        if item.limited:
            yield f"{item.name}: a run ended at a time limit; verdicts and times are left out"
    for item in comparison.items:
        if item.state in ("names", "comments"):
            yield f"{item.name}: {STATES[item.state]}"
    for item in comparison.items:
        if item.state == "changed":
            yield ""
            yield from _difference(item, lines)


def _difference(item: ItemComparison, lines: int) -> Iterator[str]:
    """The files of an item that differ; what several have in common is shown once."""
    if not item.first or not item.second:
        yield f"{item.name}: only in the {'first' if item.first else 'second'}"
        return
    shown: dict[tuple[str, ...], list[str]] = {}
    for path in dict.fromkeys([*item.first, *item.second]):
        one, other = item.first.get(path, ""), item.second.get(path, "")
        if one != other:
            found = list(
                difflib.unified_diff(one.splitlines(), other.splitlines(), n=1, lineterm="")
            )
            shown.setdefault(tuple(found[2:]), []).append(path)
    yield f"{item.name}: changed in {', '.join(path for paths in shown.values() for path in paths)}"
    left = lines
    for hunks, paths in shown.items():
        if left <= 0:
            break
        yield f"  {', '.join(paths)}"
        yield from (f"    {line}" for line in hunks[:left])
        left -= len(hunks)
    more = sum(map(len, shown)) - lines
    if more > 0:
        yield f"  {more} more lines (--lines)"
