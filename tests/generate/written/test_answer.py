# SPDX-License-Identifier: Apache-2.0
"""Programs are found however they are wrapped; what is none costs its round and is said so."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.generate.written.answer import AnswerError, blocks, tile_program
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
