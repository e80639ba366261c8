# SPDX-License-Identifier: Apache-2.0
"""The catalogue is complete, well formed, and its page is up to date."""

from __future__ import annotations

import re
from collections import Counter
from itertools import permutations, product
from pathlib import Path

import pytest

from npuforge import rules
from npuforge.rules.page import render

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"

# How many published constraints each family has; 221 in all.
PUBLISHED = {
    "ALN": 11, "CAP": 10, "CPY": 26, "VEC": 20, "MSK": 9, "OVL": 8, "DTY": 21, "CMP": 3, "GTH": 4,
    "SRT": 3, "RED": 6, "CVT": 2, "QUE": 15, "EVT": 14, "XCR": 14, "LNC": 8, "TIL": 4, "WSP": 3,
    "SCL": 7, "ATM": 5, "CUB": 16, "FIX": 8, "MMH": 4,
}  # fmt: skip


def test_every_published_constraint_is_there() -> None:
    expected = {
        f"{family}-{n:02}" for family, last in PUBLISHED.items() for n in range(1, last + 1)
    }
    published = [rule.id for rule in rules.all_rules() if rule.origin == "reference"]
    assert len(expected) == 221
    assert Counter(published) == Counter(expected)


def test_ids_have_one_form_and_fixes_are_sentences() -> None:
    for rule in rules.all_rules():
        assert re.fullmatch(r"[A-Z]{2,4}-\d\d", rule.id)
        assert rule.text.endswith(".")
        assert rule.fix.endswith((".", ")"))


def test_a_rule_that_only_costs_time_is_advice() -> None:
    for rule in rules.all_rules():
        if set(rule.consequence) == {"SL"}:
            assert rule.severity == "advice", rule.id


def test_get_knows_ids_and_refuses_others() -> None:
    assert rules.get("ALN-01").enforced == ("check",)
    with pytest.raises(KeyError):
        rules.get("ALN-99")


def test_every_pair_of_vector_side_pipes_has_a_race_rule() -> None:
    pairs = [
        *permutations(("S", "V", "MTE2", "MTE3"), 2),
        ("V", "V"),
        ("MTE2", "MTE2"),
        ("MTE3", "MTE3"),
    ]
    found = {pair: rules.for_pipes(*pair) for pair in pairs}
    assert None not in found.values()
    for (first, second), rule in found.items():
        if rule is not None and rule.family == "SYNC":
            assert f"{first}_{second}" in rule.fix


def test_scalar_code_is_ordered_with_itself() -> None:
    assert [p for p in product("S", "S") if rules.for_pipes(*p)] == []


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(rules.all_rules()), (
        "run: python -m npuforge.rules.page docs/rules.md"
    )
