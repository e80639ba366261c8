# SPDX-License-Identifier: Apache-2.0
"""Sizes: arithmetic agrees with numbers, equal sizes are equal objects, texts are read safely."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.spec.size import Size, SizeError, product

VALUES = {"a": 7, "b": 12, "c": 5}
LEAVES = st.one_of(st.sampled_from(["a", "b", "c"]), st.integers(1, 9).map(str))
TEXTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.integers(1, 6)).map(lambda t: f"({t[0]} // {t[1]})"),
        st.tuples(inner, st.integers(1, 6)).map(lambda t: f"Mod({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"Max({t[0]}, {t[1]})"),
    ),
    max_leaves=8,
)


@given(TEXTS)
def test_a_size_has_the_value_of_its_text(text: str) -> None:
    names = {"Mod": lambda a, b: a % b, "Max": max, "__builtins__": {}}
    expected = eval(text, names, VALUES)
    size = Size.parse(text)
    assert size.at(VALUES) == expected
    assert Size.parse(str(size)).at(VALUES) == expected


def test_equal_sizes_are_one_object_whatever_their_order() -> None:
    a, b = Size.symbol("a"), Size.symbol("b")
    assert a * b == b * a
    assert (a + 1) * b - b == a * b
    assert product([a, b, a]) // a == a * b
    assert (a * b).exactly(Size.symbol("c")) is None
    assert Size.of(12) // 5 == Size.of(2)
    assert (a * b // 4).names == {"a", "b"}


@pytest.mark.parametrize(
    "text", ["__import__('os')", "a.b", "1.5", "a **", "f(a, b)", "a if b else c"]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(SizeError):
        Size.parse(text)


def test_a_division_by_zero_is_no_size() -> None:
    size = Size.parse("8*s0//(s1//4)")
    assert size.at({"s0": 3, "s1": 8}) == 12
    with pytest.raises(SizeError, match="divided by zero"):
        size.at({"s0": 3, "s1": 2})


def test_differences_and_floors_may_be_empty() -> None:
    for text in ("s0", "3", "s0*s1 + 2", "2*s0"):
        assert Size.parse(text).is_positive, text
    for text in ("0", "s0 - 16", "s0//2", "1 - s0", "Min(s0, s1 - 1)"):
        assert not Size.parse(text).is_positive, text
