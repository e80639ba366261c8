# SPDX-License-Identifier: Apache-2.0
"""The entries that are shipped: well formed, verified, distinct, and still true in a sample."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from npuforge import rules
from npuforge.knowledge import shipped
from npuforge.knowledge.entry import Entry
from npuforge.knowledge.text import dump, parse
from npuforge.knowledge.verify import evidence_of
from npuforge.knowledge.words import words

ENTRIES = shipped.entries()
FAILURES = Path(__file__).parents[2] / "benchmarks" / "retrieval" / "failures.jsonl"
_RULE_LIKE = re.compile(r"[A-Z]{2,4}-\d+")


def test_there_are_enough_of_both_languages() -> None:
    languages = Counter(entry.language for entry in ENTRIES)
    assert len(ENTRIES) >= 150
    assert languages["tile"] >= 30


def test_ids_and_titles_are_unique() -> None:
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)
    assert len({entry.title for entry in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_entry_is_verified_and_tied_to_the_catalogue(entry: Entry) -> None:
    assert entry.verified, "its evidence is not of these programs"
    assert entry.before, "there is nothing that After is better than"
    assert entry.claim
    assert set(entry.tags) <= set(words().tags)
    assert parse(dump(entry)) == entry
    known = {rule.id for rule in rules.all_rules()}
    named = {word for word in entry.identifiers if _RULE_LIKE.fullmatch(word)}
    assert named <= known
    assert len(entry.rationale.split()) >= 20, "it does not say why"


def test_the_rules_that_kernels_break_are_covered() -> None:
    covered = {rule for entry in ENTRIES for rule in entry.rules}
    for family in [
        "ALN",
        "CAP",
        "CPY",
        "VEC",
        "MSK",
        "DTY",
        "QUE",
        "EVT",
        "SYNC",
        "MEM",
        "LNT",
        "TL",
    ]:
        assert any(rule.startswith(f"{family}-") for rule in covered), family
    assert len(covered) >= 120


def test_labels_of_failures_name_entries() -> None:
    failures = [json.loads(line) for line in FAILURES.read_text("utf-8").splitlines()]
    assert len(failures) >= 100
    assert len({failure["id"] for failure in failures}) == len(failures)
    known = {entry.id for entry in ENTRIES}
    befores = {entry.before for entry in ENTRIES}
    for failure in failures:
        assert failure["right"], failure["id"]
        assert set(failure["right"]) <= known, failure["id"]
        assert failure["source"] not in befores


@pytest.mark.parametrize(
    "name",
    ["store-waits-for-the-vector-unit", "two-buffers-in-turn", "tile-column-operands-have-none"],
)
def test_entry_still_holds(name: str) -> None:
    entry = next(entry for entry in ENTRIES if entry.id == name)
    found = evidence_of(entry)
    assert entry.evidence is not None
    assert found.digest == entry.evidence.digest
    assert (found.before, found.after) == (entry.evidence.before, entry.evidence.after)
