# SPDX-License-Identifier: Apache-2.0
"""Text of strangers on a terminal."""

from __future__ import annotations

import sys

import pytest

from npuforge.printable import one_line, printable


def test_ordinary_text_stays() -> None:
    text = "softmax: 3 \u00b5s, \u4e2d\u6587\n\tindented"
    assert printable(text) == text


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
        ("right\rwrong", r"right\rwrong"),
        ("a\x08b\x7f\x9bc", r"a\x08b\x7f\x9bc"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("\ud800", r"\ud800"),
        ("one\r\ntwo\x85three\u2028four", "one\ntwo\\x85three\\u2028four"),
    ],
)
def test_what_a_terminal_obeys_is_escaped(hostile: str, shown: str) -> None:
    assert printable(hostile) == shown


def test_no_character_at_all_is_obeyed() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert printable(every, len(every)).replace("\n", "").replace("\t", "").isprintable()


def test_long_texts_are_cut() -> None:
    assert printable("x" * 100, 10) == "x" * 10 + "... (90 characters more)"
    assert one_line(" a\n\n b\x1b ") == r"a b\x1b"
    assert len(one_line("x " * 10**6, 50)) < 100
