# SPDX-License-Identifier: Apache-2.0
"""Attacks by operator descriptions (TOML): their text becomes a module, code of strangers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.generate.description import module_text

_GOOD = 'name = "op"\nformula = "x"\n[inputs]\nx = {shape = [4]}\n'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name = 3",
        _GOOD + "more = [1]",
        _GOOD.replace("x = {", '"x y" = {'),
        _GOOD.replace("x = {", '"x): import os  #" = {'),
        _GOOD.replace("[4]", '"4"'),
        _GOOD.replace("[4]", '[4], dtype = "float32); import os #"'),
        _GOOD.replace("[4]", "[" * 5000),
        _GOOD.replace("[4]", "[1" + "0" * 5000 + "]"),
        _GOOD.replace("[4]", "[2020-01-01]"),
        _GOOD.replace('"x"', '"\\u0000"'),
        _GOOD.replace("x = {", "a." * 5000 + "x = {"),
    ],
)
def test_odd_descriptions_are_one_line(text: str, tmp_path: Path) -> None:
    file = tmp_path / "op.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        module_text(file)
    assert "\n" not in str(caught.value)


def test_a_name_is_no_code(tmp_path: Path) -> None:
    file = tmp_path / "op.toml"
    file.write_text(_GOOD.replace('"op"', '\'op"""\\nimport os\\n"""\''))
    name, text = module_text(file)
    assert name.isidentifier()
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)]
    assert [node.names[0].name for node in imports] == ["torch"]
