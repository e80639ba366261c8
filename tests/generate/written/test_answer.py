# SPDX-License-Identifier: Apache-2.0
"""Programs are found however they are wrapped; what is none costs its round and is said so."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.generate.written.answer import (
    AnswerError,
    blocks,
    files_in,
    joined,
    project_files,
    tile_program,
)
from npuforge.models.exchange import Reply

PROGRAM = "import tile.language as tl\n\n\n@ascend_kernel\ndef k(x):\n    pass\n"


@pytest.mark.parametrize(
    "text",
    [
        f"```python\n{PROGRAM}```",
        f"First a sketch:\n```\nfor each row: ...\n```\nThen:\n\n```py\n{PROGRAM}```\nDone.",
        f"```python\n@ascend_kernel  # an earlier try\n```\nBetter:\n````python\n{PROGRAM}````",
        f"~~~python title=softmax\n{PROGRAM}~~~",
        f"```python\n{PROGRAM}",  # the fence was forgotten, not the end
        f"Here you are.\n\n{PROGRAM}",
        PROGRAM,
    ],
)
def test_wrappings(text: str) -> None:
    assert tile_program(Reply(text=text)) == PROGRAM


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(text=""), "empty"),
        (Reply(text="  \n", stop="length"), "before its answer began"),
        (Reply(text="no", stop="refused"), "refused"),
        (Reply(text="I'm sorry, I cannot help with that."), "declines"),
        (Reply(text="```cpp\nint main() {}\n```"), "no tile program"),
        (Reply(text=f"```python\n{PROGRAM[:50]}", stop="length"), "cut off"),
        (Reply(text="x" * 500_000), "500000 characters"),
    ],
)
def test_what_is_no_program(reply: Reply, said: str) -> None:
    with pytest.raises(AnswerError, match=said):
        tile_program(reply)


@given(st.text(alphabet="`~\n abc@", max_size=60))
def test_any_text_is_cut_without_a_stumble(text: str) -> None:
    for block in blocks(text):
        assert block.text in text
    with contextlib.suppress(AnswerError):
        assert "@ascend_kernel" in tile_program(Reply(text=text + "@ascend_kernel"))


@pytest.mark.parametrize("path", ["op_host/..", "op_kernel/../x.cpp", "/etc/x.cpp", "op_host/a.sh"])
def test_files_lie_where_a_project_has_them(path: str) -> None:
    with pytest.raises(AnswerError, match="no files"):
        project_files(Reply(text=f"==== {path} ====\n```cpp\nint x;\n```\n"))
    both = f"==== op_host/a_tiling.h ====\nint x;\n==== {path} ====\nint y;\n"
    assert list(project_files(Reply(text=both))) == ["op_host/a_tiling.h"]


def test_files_and_their_joined_text_are_the_same() -> None:
    files = {"op_host/a.cpp": "int x;\n", "op_kernel/a.cpp": "int y;\n\nint z;\n"}
    assert files_in(joined(files)) == files
    assert project_files(Reply(text=joined(files))) == files
