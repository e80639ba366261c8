# SPDX-License-Identifier: Apache-2.0
"""The rewrite of kernel launches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.errors import UsageError
from npuforge.twin.rewrite import drop_launchers, rewrite_launches

_CALL = "::npuforge::direct::call([&](auto... npuforge_a) {{ {0}(npuforge_a...); }}, "
_CONFIG = '"{0}", ::npuforge::direct::config({1})'


@pytest.mark.parametrize(
    ("text", "kernel", "name", "config", "arguments"),
    [
        ("k<<<n, 0, s>>>(x, y);", "k", "k", "n, 0, s", ", x, y);"),
        ("k<<<n, nullptr, s>>>();", "k", "k", "n, nullptr, s", ");"),
        ("k<float, (3 > 2)><<<n, 0>>>(x);", "k<float, (3 > 2)>", "k", "n, 0", ", x);"),
        ("a::b::k<A<B<int>>><<<n, 0>>>(x);", "a::b::k<A<B<int>>>", "k", "n, 0", ", x);"),
        (
            "::k<<<f(a, b), g<int>(1)>>>(x[1], h(2));",
            "::k",
            "k",
            "f(a, b), g<int>(1)",
            ", x[1], h(2));",
        ),
    ],
)
def test_forms(text: str, kernel: str, name: str, config: str, arguments: str) -> None:
    wanted = _CALL.format(kernel) + _CONFIG.format(name, config) + arguments
    assert rewrite_launches(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "// k<<<1, 0, s>>>(x);",
        "/* k<<<1, 0, s>>>(x);\n */",
        'const char* t = "k<<<1>>>(x)";',
        'auto t = R"q(k<<<1>>>(x) " )q";',
        "int a = 1 << 2 >> 1; std::vector<std::vector<std::vector<int>>> v(3);",
        "char c = '\"'; int big = 1'000'000;",
    ],
)
def test_left_alone(text: str) -> None:
    assert rewrite_launches(text) == text


@given(st.lists(st.sampled_from(["\n", " ", "/* c */", "// c\n", "k", "(", ")", "x;", "<", ">"])))
def test_text_without_launches_is_unchanged(pieces: list[str]) -> None:
    text = "".join(pieces)
    if "<<<" not in text:
        assert rewrite_launches(text) == text


def test_lines_keep_their_numbers() -> None:
    text = "void f() {\n  k<T,\n    3>\n  <<<n,\n  0, s>>>\n  (x,\n   y); here();\n}\n"
    rewritten = rewrite_launches(text)
    assert rewritten.count("\n") == text.count("\n")
    assert "here()" in rewritten.split("\n")[6]


def test_unfinished_launch_names_its_line() -> None:
    with pytest.raises(UsageError, match=r"main\.cpp:3: this kernel launch"):
        rewrite_launches("\n\nk<<<1, 2;\n", "main.cpp")


def test_launchers_beside_a_kernel_are_emptied() -> None:
    text = """
namespace n {
void f(int x) { if (x) { gone<<<blocks, l2, stream>>>(missing); }
    alsoGone(); }
int g() { return 1; }
}
#define LAUNCH(k) k<<<1, nullptr, s>>>()
"""
    assert (
        drop_launchers(text)
        == """
namespace n {
void f(int x) {
}
int g() { return 1; }
}
#define LAUNCH(k) k<<<1, nullptr, s>>>()
"""
    )
