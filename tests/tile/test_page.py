# SPDX-License-Identifier: Apache-2.0
"""The documentation pages follow the table of operations, the forms and the examples."""

from __future__ import annotations

import re
from pathlib import Path

from npuforge.tile import ops, page, read_program

ROOT = Path(__file__).parents[2]


def test_the_table_of_operations_is_up_to_date() -> None:
    text = (ROOT / "docs" / "tile.md").read_text()
    assert page.with_operations(text) == text
    assert all(f"`tl.{name}(" in text for name in ops.table())


def test_the_examples_are_up_to_date() -> None:
    text = (ROOT / "docs" / "tile-examples.md").read_text()
    assert page.examples(ROOT / "examples" / "tile") == text


def test_the_program_of_the_page_compiles() -> None:
    text = (ROOT / "docs" / "tile.md").read_text()
    source = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert source is not None
    assert read_program(source[1]).name == "scale"
