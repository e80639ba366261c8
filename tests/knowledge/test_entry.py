# SPDX-License-Identifier: Apache-2.0
"""Entries and their text: strict, and the same after a round trip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.knowledge.entries import entry

from npuforge.errors import UsageError
from npuforge.generate.written.structure import _rules
from npuforge.knowledge.boundary import Boundary
from npuforge.knowledge.entry import Advice, Entry, Evidence
from npuforge.knowledge.situation import Situation, facts_of
from npuforge.knowledge.text import dump, parse, read
from npuforge.knowledge.words import words

_LINES = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=60)
_LINE = _LINES.filter(lambda text: bool(text.strip()) and text.isprintable())
_CODE = st.lists(
    st.one_of(_LINE, st.sampled_from(["", "\t", "```", "````cpp", "## After", "+++", "// ["])),
    min_size=1,
    max_size=8,
).map("\n".join)
_RATIONALE = st.lists(_LINE, min_size=1, max_size=4).map("\n\n".join)
_EVIDENCE = st.builds(
    Evidence,
    digest=st.just("0" * 32),
    soc=st.just("910b2"),
    version=st.just("1.0"),
    cases=st.integers(0, 9),
    after=_LINE,
    before=st.one_of(st.just(""), _LINE),
    ratio=st.one_of(st.none(), st.floats(0.1, 1e6)),
)
_BOUNDARY = st.builds(
    Boundary,
    st.just("row"),
    st.sampled_from(["<= 4096", "not multiple of 32", "in 1 2 3", ">= -1"]),
    _LINE,
)


def _fits(code: str) -> bool:
    return bool(code.strip("\n").strip())


@given(
    title=_LINE,
    rationale=_RATIONALE.filter(lambda text: not any(
        line.startswith(("## ", "```")) for line in text.strip().split("\n")
    )),
    after=_CODE.filter(_fits),
    before=_CODE.filter(_fits),
    evidence=st.one_of(st.none(), _EVIDENCE),
    boundary=st.lists(_BOUNDARY, max_size=2, unique=True).map(tuple),
    advises=st.one_of(st.none(), st.builds(Advice, _LINE, _LINE)),
)  # fmt: skip
def test_an_entry_survives_its_text(**changes: Any) -> None:
    made = entry(claim="wrong", auto_sync=False, **changes)
    text = dump(made)
    assert parse(text) == made
    assert dump(parse(text)) == text


def test_the_text_is_what_the_design_shows(tmp_path: Path) -> None:
    text = """+++
id = "a-b"
title = "A"
criterion = "speed"
language = "tile"
operators = ["element-wise"]
tags = ["tail"]
identifiers = ["tl.load"]
claim = "slower 1.25"
advises = {subject = "copy of a tail", choice = "DataCopyPad"}

[[boundary]]
fact = "row_bytes"
holds = "not multiple of 32"
why = "aligned rows need none of this"
+++
Because.

## Before
```python
b
```
## After
```python
a
# [
shown
# ]
# [
too
# ]
```

## Launch
```toml
[attrs]
n = 1
```
"""
    made = parse(text)
    assert made.rationale == "Because."
    assert made.before == "b\n"
    assert made.claims is not None
    assert made.claims.ratio == 1.25
    assert made.shown(made.after) == "shown\n# ...\ntoo\n"
    assert made.shown(made.before) == "b\n"
    assert not made.verified
    path = tmp_path / "a-b.md"
    path.write_text(dump(made), "utf-8")
    assert read(path) == made
    path.rename(tmp_path / "other.md")
    with pytest.raises(UsageError, match="its entry is called 'a-b'"):
        read(tmp_path / "other.md")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"id": "Short Rows"}, "an id is made of small letters"),
        ({"title": "two\nlines"}, "title is one line"),
        ({"rationale": " "}, "no rationale"),
        ({"rationale": "## After"}, "no line of the rationale begins"),
        ({"after": "a\x07"}, "after has the character"),
        ({"after": ""}, "no program under After"),
        ({"tags": ("fast",)}, "no tag 'fast'"),
        ({"tags": ()}, "needs a tag"),
        ({"operators": ("gelu",)}, "no operator 'gelu'"),
        ({"dtypes": ("half",)}, "called 'float16'"),
        ({"soc": ("h100",)}, "no chip 'h100'"),
        ({"cann": "8"}, "no range of versions"),
        ({"identifiers": ("ALN-77",)}, "no rule 'ALN-77'"),
        ({"identifiers": ("a", "a")}, "identifiers repeats itself"),
        ({"claim": "wrong"}, "go together"),
        ({"claim": "bad", "before": "b"}, "no claim 'bad'"),
        ({"claim": "slower 1.01", "before": "b"}, "below the threshold"),
        ({"claim": "rule XX-00", "before": "b"}, "no rule 'XX-00'"),
        ({"launch": "blocks = "}, "Launch is no TOML"),
        ({"launch": 'reference = "a.py::f"'}, "reads no files"),
        ({"launch": '[[argument]]\ndata = "/etc/hostname"'}, "reads no files"),
        ({"launch": '[[argument]]\ndata = {file = "a.npy"}'}, "reads no files"),
        ({"launch": '[expected]\ny = "y.npy"'}, "reads no files"),
    ],
)
def test_what_is_not_well_formed_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        entry(**changes)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("+++\nid", "id"), "begins with TOML"),
        (('title = "', 'titel = "'), "unknown field"),
        (('criterion = "difficulty"', 'criterion = "hard"'), "hard"),
        (('id = "short-rows"', 'id = "short-rows'), "is no TOML"),
        (('id = "short-rows"', 'id = "short-rows"\nafter = "x"'), "stands below the front"),
        (("## After", "## Afterwards"), "no section 'afterwards'"),
        (("## Launch", "## After"), "two sections"),
        (("```cpp\n", "text\n```cpp\n"), "one block between"),
    ],
)
def test_a_text_that_is_not_one_is_refused(change: tuple[str, str], said: str) -> None:
    text = dump(entry()).replace(*change, 1)
    with pytest.raises(UsageError, match=said):
        parse(text)


def test_evidence_belongs_to_what_was_run() -> None:
    bare = entry()
    evidence = Evidence(digest=bare.digest, soc="910b2", version="1", cases=1, after="right")
    assert entry(evidence=evidence).verified
    assert entry(evidence=evidence, title="Another title").verified
    assert not entry(evidence=evidence, after="// changed\n").verified


def test_boundaries_and_metadata_decide_who_is_served() -> None:
    def suits(situation: Situation, **changes: Any) -> bool:
        made: Entry = entry(**changes)
        return made.scope.suits(situation)

    here = Situation(
        language="ascendc",
        operators=("element-wise", "masks"),
        dtypes=("float16",),
        soc="910b2",
        cann="8.0.1",
        facts=facts_of([((4, 100), "float16"), ((100,), "float32")]),
    )
    assert here.facts == {
        "elements": 400, "row": 100, "row_bytes": 200, "rows": 4, "rank": 2, "tensors": 2,
    }  # fmt: skip
    assert suits(here)
    assert not suits(Situation(language="tile"))
    assert suits(here, operators=("masks", "scan"))
    assert not suits(here, operators=("scan",))
    assert suits(Situation(language="ascendc"), operators=("scan",))
    assert not suits(here, dtypes=("float32",))
    assert not suits(here, soc=("910b1",))
    assert not suits(here, cann=">=8.1")
    assert suits(here, cann=">=8")
    assert suits(here, boundary=(Boundary("row_bytes", "not multiple of 32", "why"),))
    assert not suits(here, boundary=(Boundary("row_bytes", "multiple of 32", "why"),))
    assert not suits(here, boundary=(Boundary("operator", "not in masks", "why"),))
    assert suits(here, boundary=(Boundary("operator", "in masks 'along rows'", "why"),))


def test_operators_are_the_structures_of_graphs() -> None:
    rules = _rules()
    named = set(rules.operations) | {name for used in rules.examples.values() for name in used}
    assert set(words().operators) == named | {"long rows"}
