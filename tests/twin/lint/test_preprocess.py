# SPDX-License-Identifier: Apache-2.0
"""The preprocessor keeps places and knows what this architecture defines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.twin.lint.preprocess import Macros, evaluate, visible

_PIECES = ["#if 0\n", "#else\n", "#endif\n", "#ifdef X\n", "#define X 1\n", "int a;\n",
           "/* b\n", "*/\n", '"c//"', "// d\n", "\\\n", "é\n", "#"]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES)).map("".join))
def test_every_byte_stays_at_its_place(text: str) -> None:
    source = text.encode()
    result = visible(source, Macros(), lambda _: None)
    assert len(result) == len(source)
    assert [i for i, c in enumerate(result) if c == 10] == [
        i for i, c in enumerate(source) if c == 10
    ]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("__NPU_ARCH__ == 2201", True),
        ("__CCE_AICORE__ < 220", False),
        ("defined(__CCE_KT_TEST__)", False),
        ("!defined ASCENDC_CPU_DEBUG && __NPU_ARCH__ >= 2201", True),
        ("ORIG_DTYPE_X == DT_FLOAT", None),
        ("0 && ORIG_DTYPE_X", False),
        ("1 || ORIG_DTYPE_X", True),
        ("defined(__DAV_C310__) || (__NPU_ARCH__ == 3510)", False),
        ("0x10 > 15u", True),
    ],
)
def test_conditions(expression: str, value: bool | None) -> None:
    assert evaluate(expression, Macros()) is value


def test_unknown_conditions_keep_both_branches() -> None:
    text = b"#ifdef SWITCH\nint a;\n#else\nint b;\n#endif\n"
    assert visible(text, Macros(), lambda _: None).split() == [b"int", b"a;", b"int", b"b;"]


def test_known_conditions_keep_one_branch() -> None:
    conditions = (b"#if __NPU_ARCH__ == 3510", b"#elif __NPU_ARCH__ == 2201", b"#else")
    text = b"%s\nint a;\n%s\nint b;\n%s\nint c;\n#endif\n" % conditions
    assert visible(text, Macros(), lambda _: None).split() == [b"int", b"b;"]
