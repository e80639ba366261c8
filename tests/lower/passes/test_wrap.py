# SPDX-License-Identifier: Apache-2.0
"""Layout of emitted C++: lines fit, text stays, brackets line up."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from npuforge.lower.wrap import WIDTH, format_cpp, wrap_line


def tokens(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_short_lines_stay() -> None:
    assert wrap_line("    int a = 1;  // why") == ["    int a = 1;  // why"]


def test_parameters_hang_under_the_first() -> None:
    parameters = ", ".join(f"int64_t parameter{i}" for i in range(8))
    first, *rest = wrap_line(f"    void Init({parameters})")
    column = first.index("(") + 1
    assert rest
    for line in rest:
        assert line.startswith(" " * column + "int64_t")


def test_a_comment_too_long_goes_above() -> None:
    line = "    " + "a = b; // " + "word " * 30
    lines = wrap_line(line)
    assert lines[-1] == "    a = b;"
    assert all(part.startswith("    // ") for part in lines[:-1])


def test_statements_broken_before_are_joined_first() -> None:
    source = ["    Call(first,", "           second);", "int table[] = {1,", "  2};"]
    assert format_cpp(source) == "    Call(first, second);\nint table[] = {1, 2};\n"


def test_strings_and_template_arguments_are_not_broken() -> None:
    text = "a, b (c, d " * 6
    line = f'    Function<int64_t, float, half>("{text}", {"x" * 40}, Name<A, B>(1));'
    lines = wrap_line(line)
    assert len(lines) > 1
    joined = "\n".join(lines)
    assert f'"{text}"' in joined
    assert "Function<int64_t, float, half>(" in joined
    assert "Name<A, B>(1)" in joined


words = st.text("abcxyz", min_size=1, max_size=12)
expressions = st.recursive(
    words,
    lambda inner: st.one_of(
        st.tuples(words, st.lists(inner, min_size=1, max_size=5)).map(
            lambda call: f"{call[0]}({', '.join(call[1])})"
        ),
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(" ".join),
    ),
    max_leaves=40,
)


@given(expressions, st.integers(0, 12))
@example(
    "a + aaaaaaaaaaaa(aa, aaaa, aaaaaaaaaaaa, aaaaaaaaa(aaaaaaaa, aaaaaaaaa), a + aaaaaaaaaaaa) "
    "+ aaa + aaaaaaaaaaaa(a, aa, aaaaaaaaaaaa, aaaaaaaaaaaa, aaaaaaaaaaaa) + aaa(aaa, aaaa, a(a), "
    "aaaaaaaaaaaa(a, a, aaaaa, aaaaaaaaaaaa), aa + aaaaaa)",
    8,
)
def test_no_token_is_lost_and_lines_fit(expression: str, indent: int) -> None:
    line = f"{' ' * indent}const int64_t result = {expression};"
    lines = wrap_line(line)
    assert tokens("".join(lines)) == tokens(line)
    assert all(len(part) <= WIDTH for part in lines)
    assert format_cpp(format_cpp(lines).splitlines()) == format_cpp(lines)


def test_a_comparison_breaks_before_its_operator_and_hangs_under_its_bracket() -> None:
    first, second = "a" * 60, "b" * 60
    assert wrap_line(f"    if ({first} && {second}) {{") == [
        f"    if ({first}",
        f"        && {second}) {{",
    ]


def test_a_preprocessor_line_stays_whole() -> None:
    line = "#define LONG " + "x " * 80
    assert wrap_line(line) == [line]
