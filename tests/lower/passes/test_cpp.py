# SPDX-License-Identifier: Apache-2.0
"""Scalar expressions as C++: brackets, divisions, literals, and functions that are defined once."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import code, lines, process

from npuforge.lower.cpp import float_literal, scalar_functions


def scalar(expression: str) -> str:
    """The scalar `k = expression` as `Process` assigns it."""
    body = f"k = {expression}\nwith tl.compute():\n    tl.fill(a, float(k))"
    head = "const int64_t k = "
    (line,) = (line for line in process(body, "a") if " k = " in line)
    return line.removeprefix(head).removeprefix("const float k = ").removesuffix(";")


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        ("n - (n - 3)", "n - (n - 3)"),
        ("(n - 5) - 3", "n - 5 - 3"),
        ("(n + 1) * 2", "(n + 1) * 2"),
        ("n + n * 2", "n + n * 2"),
        ("n * (n + 2) * 3", "n * (n + 2) * 3"),
        ("1 if n > 3 and n < 9 else 2", "(n > 3 && n < 9 ? 1 : 2)"),
        ("1 if n == 3 and (n > 5 or n < 2) else 2", "(n == 3 && (n > 5 || n < 2) ? 1 : 2)"),
        ("1 if not n == 3 else 2", "(!(n == 3) ? 1 : 2)"),
        ("float(n) / 2.0", "static_cast<float>(n) / 2.0f"),
    ],
)
def test_brackets_stand_only_where_they_are_needed(expression: str, printed: str) -> None:
    assert scalar(expression) == printed


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        ("n // 8", "n / 8"),
        ("n % 8", "n % 8"),
        ("(n - 9) // 8", "FloorDiv(n - 9, 8)"),
        ("(n - 9) % 8", "FloorMod(n - 9, 8)"),
        ("8 // n", "FloorDiv(8, n)"),
        ("8 // max(1, n)", "8 / MaxOf<int64_t>(1, n)"),
    ],
    ids=["quotient", "remainder", "below zero", "remainder below zero", "by zero", "above zero"],
)
def test_the_division_of_c_serves_where_nothing_is_negative(expression: str, printed: str) -> None:
    assert scalar(expression) == printed


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        ("min(n, 3, 9 - n)", "MinOf<int64_t>(MinOf<int64_t>(n, 3), 9 - n)"),
        ("max(float(n), 0.5)", "MaxOf<float>(static_cast<float>(n), 0.5f)"),
        ("abs(3 - n)", "AbsOf(3 - n)"),
        ("tl.cdiv(n, 64)", "CeilDiv(n, 64)"),
        ("tl.align_up(n, 8)", "AlignUp(n, 8)"),
        ("tl.align_down(n, 8)", "AlignDown(n, 8)"),
        ("n + 4294967296", "n + 4294967296LL"),
        ("tl.program_id(0)", "static_cast<int64_t>(GetBlockIdx())"),
    ],
)
def test_functions_and_constants(expression: str, printed: str) -> None:
    assert scalar(expression) == printed


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (1.0, "1.0f"),
        (-2.5, "-2.5f"),
        (0.1, "0.1f"),
        (1 / 3, "0.33333334f"),
        (1e-20, "1e-20f"),
        (16777217.0, "16777216.0f"),
    ],
)
def test_floats_have_the_fewest_digits_that_name_them(value: float, printed: str) -> None:
    assert float_literal(value) == printed


def test_infinities_and_nan_are_made_from_their_bits() -> None:
    def filled(value: str) -> list[str]:
        emitted = code(f"with tl.compute():\n    tl.fill(a, {value})", "a")
        assert emitted.scalar_functions == {"FloatFromBits"}
        return [line for line in emitted.body.functions[0].lines if "Duplicate" in line]

    assert filled("tl.inf") == ["Duplicate(aLocal, FloatFromBits(0x7F800000U), 64);"]
    assert filled("-tl.inf") == ["Duplicate(aLocal, FloatFromBits(0xFF800000U), 64);"]
    assert filled("tl.nan") == ["Duplicate(aLocal, FloatFromBits(0x7FC00000U), 64);"]


def test_a_function_brings_what_it_needs_and_the_marks_of_its_side() -> None:
    assert scalar_functions({"AlignDown"}, "device") == lines("""
        |__aicore__ inline int64_t FloorDiv(int64_t a, int64_t b)
        |{
        |    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
        |}
        |
        |__aicore__ inline int64_t AlignDown(int64_t a, int64_t b)
        |{
        |    return FloorDiv(a, b) * b;
        |}
        |
    """)
    assert scalar_functions({"MinOf"}, "host")[:2] == [
        "template <typename T>",
        "inline T MinOf(T a, T b)",
    ]
    assert scalar_functions(set(), "device") == []


def test_only_functions_that_are_used_are_defined() -> None:
    body = "k = {}\nwith tl.compute():\n    tl.fill(a, float(k))"
    assert code(body.format("n // 8"), "a").scalar_functions == set()
    assert code(body.format("min(n, 8)"), "a").scalar_functions == {"MinOf"}
