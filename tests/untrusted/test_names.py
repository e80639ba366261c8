# SPDX-License-Identifier: Apache-2.0
"""Names of strangers: what is allowed for each kind, and what never is."""

from __future__ import annotations

import pytest

from npuforge.errors import UsageError
from npuforge.untrusted.names import Kind, checked_define, checked_name, is_name

_NEVER = ["", "\n", "a\n", "a\nb", "a b\n", "../a", "/a", "a\0", "-a", "a;b", 'a"', "a\\", "\u00e9"]


@pytest.mark.parametrize("kind", ["identifier", "entry", "argument", "word", "define", "file"])
@pytest.mark.parametrize("text", [*_NEVER, "a" * 5000, 7, None])
def test_no_kind_allows_what_breaks_out(kind: Kind, text: object) -> None:
    assert not is_name(kind, text)
    with pytest.raises(UsageError) as caught:
        checked_name(kind, text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("identifier", "AddCustom_2"),
        ("entry", "add"),
        ("entry", "ns::add<float, 3>"),
        ("entry", "add<ns::Config<(4 + 2)>, half*>"),
        ("argument", "x[10]"),
        ("argument", "x.grad"),
        ("word", "ascend910_93"),
        ("word", "910b2"),
        ("define", "MAX(a, b)"),
        ("type", "std::vector<unsigned int>"),
        ("file", "csrc/op-kernel.v2.cpp"),
    ],
)
def test_ordinary_names_pass(kind: Kind, text: str) -> None:
    assert checked_name(kind, text) == text


@pytest.mark.parametrize("text", ["a/../b", "a//b", "a/", "./a", ".hidden", "a/.git/config"])
def test_a_file_stays_below_its_folder(text: str) -> None:
    assert not is_name("file", text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("", None),
        ("A B", None),
        ("-D", None),
        ("NPUFORGE_MODE", "1"),
        ("A", "1\n2"),
        ("A", "x" * 9999),
    ],
)
def test_a_define_is_one_name_and_one_line(name: str, value: str | None) -> None:
    with pytest.raises(UsageError):
        checked_define(name, value)


def test_ordinary_defines_pass() -> None:
    assert checked_define("A", None) == "A"
    assert checked_define("A", "(1 + 2)") == "A=(1 + 2)"
