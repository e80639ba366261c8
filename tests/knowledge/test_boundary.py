# SPDX-License-Identifier: Apache-2.0
"""The grammar of boundaries, and what it says about numbers and words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.errors import UsageError
from npuforge.knowledge.boundary import Boundary, Condition, condition_of
from npuforge.knowledge.situation import Situation

_NUMBERS = st.integers(-50, 50)
_CONDITIONS = st.one_of(
    st.builds(Condition, st.sampled_from(["<=", ">="]), st.tuples(_NUMBERS)),
    st.builds(
        Condition, st.sampled_from(["multiple of", "not multiple of"]), st.tuples(st.integers(1, 9))
    ),
    st.builds(
        Condition,
        st.sampled_from(["in", "not in"]),
        st.lists(_NUMBERS, min_size=1, max_size=4).map(tuple),
    ),
)


@given(_CONDITIONS, _NUMBERS)
def test_a_condition_or_its_opposite_holds(condition: Condition, value: int) -> None:
    assert condition.of_number(value) != condition.negated().of_number(value)
    assert condition.negated().negated() == condition
    assert condition_of("row", str(condition)) == condition


@given(_CONDITIONS, _CONDITIONS, _NUMBERS)
def test_conditions_that_exclude_each_other_never_both_hold(
    first: Condition, second: Condition, value: int
) -> None:
    assert first.excludes(second) == second.excludes(first)
    if first.excludes(second):
        assert not (first.of_number(value) and second.of_number(value))


def test_opposites_are_seen_to_exclude_each_other() -> None:
    for holds in ("<= 4", ">= 4", "multiple of 3", "in 1 2", "not in 7"):
        condition = condition_of("row", holds)
        assert condition.excludes(condition.negated())
    assert condition_of("dtype", "in float16").excludes(condition_of("dtype", "in float32 int8"))
    assert not condition_of("dtype", "in float16").excludes(condition_of("dtype", "not in int8"))


def test_words_with_blanks_are_quoted() -> None:
    condition = condition_of("operator", "in 'along rows' scan")
    assert condition.values == ("along rows", "scan")
    assert condition_of("operator", str(condition)) == condition


def test_what_is_not_known_forbids_nothing() -> None:
    boundary = Boundary("soc", "in 910b1", "why")
    assert boundary.allows(Situation(language="tile"))
    assert not boundary.allows(Situation(language="tile", soc="910b2"))
    assert Boundary("rank", "<= 2", "why").allows(Situation(language="tile"))


@pytest.mark.parametrize(
    ("fact", "holds", "said"),
    [
        ("weight", "<= 4", "no fact 'weight'"),
        ("row", "< 4", "no condition"),
        ("row", "<= 4 or 5", "no condition"),
        ("row", "multiple of 0", "nothing is a multiple of 0"),
        ("row", "in four", "is a number"),
        ("dtype", "<= 4", "no condition"),
        ("dtype", "in 'float16", "not closed"),
        ("operator", "in gelu", "no operator 'gelu'"),
    ],
)
def test_other_conditions_are_refused(fact: str, holds: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Boundary(fact, holds, "why")
    with pytest.raises(UsageError, match="says why"):
        Boundary("row", "<= 4", " ")
