# SPDX-License-Identifier: Apache-2.0
"""What the compiler claims to know of whole numbers is true of every value they take."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from npuforge.tile.expr import (
    Binary,
    Call,
    Choose,
    Compare,
    Const,
    Expr,
    Number,
    Type,
    Var,
    evaluate,
    fold,
)
from npuforge.tile.facts import Fact, Facts

NAMES = ("a", "b", "c")
VARIABLES = {name: Var(name, Type.INT) for name in NAMES}


def variables() -> st.SearchStrategy[Expr]:
    return st.sampled_from(list(VARIABLES.values()))


def expressions() -> st.SearchStrategy[Expr]:
    leaves = variables() | st.integers(-20, 40).map(Const)
    positive = st.integers(1, 16).map(Const)

    def larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        divisor = positive | inner
        return st.one_of(
            st.builds(Binary, st.sampled_from(["+", "-", "*"]), inner, inner),
            st.builds(Binary, st.sampled_from(["//", "%"]), inner, divisor),
            st.builds(
                Call,
                st.sampled_from(["cdiv", "align_up", "align_down"]),
                st.tuples(inner, divisor),
            ),
            st.builds(Call, st.sampled_from(["min", "max"]), st.tuples(inner, inner)),
            st.builds(Choose, st.builds(Compare, st.just("<"), inner, inner), inner, inner),
        )

    return st.recursive(leaves, larger, max_leaves=8)


VALUES = st.fixed_dictionaries({name: st.integers(-10, 60) for name in NAMES})


def value(expr: Expr, values: dict[str, int]) -> int | None:
    """None where a divisor is not positive: the language refuses that when it happens."""

    def leaf(expr: Expr) -> Number:
        assert isinstance(expr, Var)
        return values[expr.name]

    def defined(expr: Expr) -> bool:
        match expr:
            case Binary("//" | "%", _, right) if evaluate(right, leaf) == 0:
                return False
            case Call("cdiv" | "align_up" | "align_down", (_, step)) if evaluate(step, leaf) <= 0:
                return False
            case Binary(_, left, right) | Compare(_, left, right):
                return defined(left) and defined(right)
            case Call(_, args):
                return all(map(defined, args))
            case Choose(condition, then, orelse):
                return defined(condition) and defined(then) and defined(orelse)
            case _:
                return True

    try:
        return int(evaluate(expr, leaf)) if defined(expr) else None
    except ZeroDivisionError:
        return None


def knowing(values: dict[str, int], slack: list[int]) -> Facts:
    """Facts that hold for `values`: bounds around them, and something that divides them."""
    facts = Facts()
    for name, room in zip(NAMES, slack, strict=True):
        number = values[name]
        low = None if room == 0 else number - room
        high = None if room % 3 == 0 else number + room
        divisor = math.gcd(number, 48) if room % 2 else 1
        facts.known[name, 0] = Fact((low, high), divisor)
    return facts


SLACK = st.lists(st.integers(0, 9), min_size=3, max_size=3)


@settings(max_examples=150, deadline=None)
@given(expressions(), VALUES, SLACK)
def test_bounds_hold(expr: Expr, values: dict[str, int], slack: list[int]) -> None:
    found = value(expr, values)
    assume(found is not None)
    assert found is not None
    low, high = knowing(values, slack).bounds(expr)
    assert low is None or low <= found
    assert high is None or found <= high


@settings(max_examples=150, deadline=None)
@given(expressions(), VALUES, SLACK)
def test_divisors_divide(expr: Expr, values: dict[str, int], slack: list[int]) -> None:
    found = value(expr, values)
    assume(found is not None)
    assert found is not None
    divisor = knowing(values, slack).divisor(expr)
    assert divisor >= 0
    assert found == 0 if divisor == 0 else found % divisor == 0


@settings(max_examples=150, deadline=None)
@given(expressions(), expressions(), VALUES, SLACK)
def test_what_is_at_most_is(
    small: Expr, large: Expr, values: dict[str, int], slack: list[int]
) -> None:
    first, second = value(small, values), value(large, values)
    assume(first is not None and second is not None)
    assert first is not None
    assert second is not None
    facts = knowing(values, slack)
    if facts.at_most(small, large):
        assert first <= second
    if facts.equal(small, large):
        assert first == second


@settings(max_examples=100, deadline=None)
@given(expressions(), VALUES)
def test_folding_changes_nothing(expr: Expr, values: dict[str, int]) -> None:
    found = value(expr, values)
    assume(found is not None)
    assert value(fold(expr), values) == found


@settings(max_examples=100, deadline=None)
@given(expressions(), st.lists(VALUES, min_size=1, max_size=5))
def test_definitions_may_be_put_in(expr: Expr, many: list[dict[str, int]]) -> None:
    facts = Facts()
    facts.learn("d", 0, expr)
    defined = Var("d", Type.INT)
    for values in many:
        found = value(expr, values)
        if found is not None:
            assert value(facts.expand(Binary("+", defined, defined)), values) == 2 * found


def test_definitions_that_double_do_not_explode() -> None:
    facts = Facts({("d", 0): Fact((2, 4), 2)})
    for version in range(200):
        previous = Var("d", Type.INT, version)
        facts.learn("d", version + 1, Binary("*", previous, previous))
    last = Var("d", Type.INT, 200)
    assert not facts.equal(last, Var("d", Type.INT, 100))
    assert facts.bounds(last)[1] is None
    assert facts.divisor(last) % 2 == 0


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["<", "<=", "==", ">=", ">"]),
    expressions(),
    expressions(),
    variables(),
    VALUES,
)
def test_assumed_conditions_give_true_bounds(
    op: str, left: Expr, right: Expr, probe: Expr, values: dict[str, int]
) -> None:
    condition = Compare(op, left, right)  # type: ignore[arg-type]
    first, second = value(left, values), value(right, values)
    assume(first is not None and second is not None)
    assume(value(Choose(condition, Const(1), Const(0)), values) == 1)
    facts = Facts()
    facts.assume(condition)
    for expr in (left, right, probe):
        found = value(expr, values)
        assert found is not None
        low, high = facts.bounds(expr)
        assert low is None or low <= found
        assert high is None or found <= high


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Binary("+", VARIABLES["a"], VARIABLES["b"]), Binary("+", VARIABLES["b"], VARIABLES["a"])),
        (
            Binary("*", Binary("+", VARIABLES["a"], Const(1)), VARIABLES["b"]),
            Binary("+", Binary("*", VARIABLES["b"], VARIABLES["a"]), VARIABLES["b"]),
        ),
        (
            Binary("-", Binary("+", VARIABLES["a"], VARIABLES["b"]), VARIABLES["a"]),
            VARIABLES["b"],
        ),
    ],
)
def test_equal_in_other_words(left: Expr, right: Expr) -> None:
    assert Facts().equal(left, right)


def test_infinite_attributes_need_no_bounds() -> None:
    facts = Facts()
    eps = Var("eps", Type.FLOAT)
    facts.assume(Compare("<", eps, Const(math.inf)))
    assert facts.bounds(VARIABLES["a"]) == (None, None)
