# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.errors import UsageError
from npuforge.verdict import Advice, Case, Diagnostic, Race, Side, Verdict, Violation, json_schema

# The object the contract shows, field by field.
CONTRACT = """{
  "name": "softmax", "category": "activation", "level": 1, "strategy": "planner", "soc": "910b2",
  "compiled": true, "diagnostics": [{"file": "k.cpp", "line": 41, "message": "m"}],
  "violations": [{"rule": "ALN-01", "severity": "error", "file": "k.cpp", "line": 57,
                  "message": "m", "fix": "f"}],
  "races": [{"rule": "SYNC-01", "first": {"file": "k.cpp", "line": 60, "pipe": "V"},
             "second": {"file": "k.cpp", "line": 66, "pipe": "MTE3"}, "message": "m"}],
  "cases": [{"shapes": [[16, 16384]], "dtypes": ["float32"], "correct": true, "max_abs": 1e-7,
             "max_rel": 1e-6}],
  "correct": true, "time_us": 8.1, "roofline": 0.74, "bottleneck": "memory",
  "pipes": {"V": 3.2, "MTE2": 6.9, "MTE3": 5.0, "S": 1.1},
  "baseline_us": 8.16, "baseline_source": "measured", "speedup": 1.007,
  "seconds": 6.3, "error": null
}"""

text = st.text(max_size=8)
line = st.none() | st.integers(1, 10**6)
number = st.none() | st.floats(allow_nan=False, allow_infinity=False)
verdicts = st.builds(
    Verdict,
    name=text,
    level=line,
    compiled=st.none() | st.booleans(),
    diagnostics=st.lists(st.builds(Diagnostic, st.none() | text, line, text), max_size=2),
    violations=st.lists(
        st.builds(Violation, text, st.sampled_from(["error", "warning"]), text, line, text),
        max_size=2,
    ),
    advice=st.lists(
        st.builds(Advice, text, st.just("advice"), text, line, text, text, number), max_size=2
    ),
    races=st.lists(
        st.builds(
            Race, text, st.builds(Side, text, line, text), st.builds(Side, text, line, text), text
        ),
        max_size=2,
    ),
    cases=st.lists(
        st.builds(
            Case,
            st.lists(st.lists(st.integers(0, 2**40), max_size=3), max_size=2),
            st.lists(text, max_size=2),
            st.none() | st.booleans(),
            number,
            number,
        ),
        max_size=2,
    ),
    time_us=number,
    pipes=st.none() | st.dictionaries(text, st.floats(0, 1e9), max_size=3),
    isolation=st.none() | text,
)


@given(verdicts)
def test_json_roundtrip(verdict: Verdict) -> None:
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert Verdict.from_json(verdict.to_json(indent=0)) == verdict


def test_every_contract_field_is_kept() -> None:
    wanted = json.loads(CONTRACT)
    written = json.loads(Verdict.from_json(CONTRACT).to_json())
    assert [case.pop("message") for case in written["cases"]] == [None]  # added to the contract
    assert {key: written[key] for key in wanted} == wanted
    added = {"format", "advice", "interrupted", "isolation", "isolation_means"}
    assert set(written) - set(wanted) == added


@pytest.mark.parametrize(
    ("means", "isolation"),
    [
        ("bubblewrap", "bubblewrap"),
        ("landlock+seccomp", "landlock+seccomp"),
        ("seccomp", "unisolated"),
        ("rlimits only", "unisolated"),
        (None, None),
    ],
)
def test_means_that_do_not_protect_files_are_unisolated(
    means: str | None, isolation: str | None
) -> None:
    first = Verdict("k", compiled=True, isolation=means)
    for verdict in (first, replace(first, seconds=1.0), Verdict.from_json(first.to_json())):
        assert (verdict.isolation, verdict.isolation_means) == (isolation, means)
        assert verdict.isolated is (isolation != "unisolated")


def test_what_was_not_taken_is_null() -> None:
    written = json.loads(Verdict("k").to_json())
    assert written["time_us"] is None
    assert written["compiled"] is None
    assert written["violations"] == []


@pytest.mark.parametrize(
    ("change", "ok"),
    [
        ({}, True),
        ({"compiled": False}, False),
        ({"compiled": None}, False),
        ({"correct": True}, True),
        ({"correct": False}, False),
        ({"error": "the kernel was stopped: wall time"}, False),
        ({"violations": [Violation("ALN-01", "error", "k.cpp", 1, "m")]}, False),
        ({"violations": [Violation("ALN-02", "warning", "k.cpp", 1, "m")]}, True),
        ({"advice": [Advice("BNK-01", "advice", "k.cpp", 1, "m", None, 40.0)]}, True),
        ({"races": [Race("S", Side("k", 1, "V"), Side("k", 2, "S"), "m")]}, False),
    ],
)
def test_exit_status(change: dict[str, object], ok: bool) -> None:
    verdict = replace(Verdict("k", compiled=True), **change)  # type: ignore[arg-type]
    assert verdict.ok is ok
    assert verdict.exit_status == (0 if ok else 1)


@pytest.mark.parametrize("bad", ["", "[]", "{}", '{"name": 3}', '{"name": "k", "cases": [{}]}'])
def test_bad_json_is_one_line(bad: str) -> None:
    with pytest.raises(UsageError, match="is no verdict") as caught:
        Verdict.from_json(bad)
    assert "\n" not in str(caught.value)


def test_a_newer_writer_is_accepted() -> None:
    assert Verdict.from_json('{"name": "k", "something_new": 1}') == Verdict("k")


def test_verdicts_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Verdict("k").name = "other"  # type: ignore[misc]


def test_the_page_lists_every_field() -> None:
    page = (Path(__file__).parents[1] / "docs" / "verdict.md").read_text("utf-8")
    documented = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    for kind in (Verdict, Diagnostic, Violation, Advice, Race, Side, Case):
        assert {entry.name for entry in fields(kind)} <= documented
    assert set(json_schema()["$defs"]["Verdict"]["properties"]) <= documented
