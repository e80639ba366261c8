# SPDX-License-Identifier: Apache-2.0
"""TOML, YAML and JSON of strangers: every fault is one line, and none takes long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from npuforge.documents import parse_json, parse_toml, parse_yaml
from npuforge.errors import UsageError

_ALIASES = "a: &a [1,1]\n" + "\n".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)},*{chr(97 + i)}]" for i in range(20)
)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_toml, "a = " + "9" * 5000),
        (parse_toml, "a = 0x" + "F" * 5000),
        (parse_toml, "a = " + "[" * 20000),
        (parse_toml, "a = " + "[" * 100 + "]" * 100),
        (parse_toml, "a = 2001-01-01"),
        (parse_toml, "a = 12:30:00"),
        (parse_toml, "a = 1\na = 2"),
        (parse_yaml, "a: " + "9" * 5000),
        (parse_yaml, "a: 0x" + "F" * 5000),
        (parse_yaml, "a: " + "[" * 20000),
        (parse_yaml, "a: 2001-99-99"),
        (parse_yaml, "a: 2001-01-01"),
        (parse_yaml, "{a: 1}: 2"),
        (parse_yaml, "a: !!python/object/apply:os.system [id]"),
        (parse_yaml, "a: !!binary YQ=="),
        (parse_yaml, "a: !!set {b}"),
        (parse_yaml, "a: \0"),
        (parse_yaml, 'a: "\\ud800"'),
        (parse_yaml, _ALIASES),
        (parse_json, "9" * 5000),
        (parse_json, "[" * 20000 + "]" * 20000),
        (parse_json, '"\\ud800"'),
        (parse_json, "1" * 30),
        (parse_json, ""),
    ],
)
def test_a_fault_is_one_line(parse: Callable[[str, str], Any], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text, "the file")
    assert str(caught.value).startswith("the file: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_ordinary_texts_are_read() -> None:
    assert parse_toml("a = [1, 2.5, 'x']\n[b]\nc = true", "t") == {
        "a": [1, 2.5, "x"],
        "b": {"c": True},
    }
    assert parse_yaml("a: [1, 2.5, x]\nb: {c: true, d: null}", "t") == {
        "a": [1, 2.5, "x"],
        "b": {"c": True, "d": None},
    }
    assert parse_json('{"a": [18446744073709551615, -1]}', "t") == {"a": [(1 << 64) - 1, -1]}
