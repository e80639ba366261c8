# SPDX-License-Identifier: Apache-2.0
"""Documents of strangers: whatever is wrong is one line, and nothing small expands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from npuforge.errors import UsageError
from npuforge.untrusted.documents import decode_json, parse_json, parse_toml, parse_yaml

_TENFOLD = "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
_MERGED = "".join(f"a{i}: &a{i} {{<<: [{','.join([f'*a{i - 1}'] * 9)}]}}\n" for i in range(1, 12))

_REFUSED: dict[str, tuple[Callable[[str | bytes, str], Any], str | bytes, str]] = {
    "TOML digits": (parse_toml, "a = " + "9" * 5000, "too many digits"),
    "TOML nesting": (parse_toml, "a = " + "[" * 20_000, "nested too deeply"),
    "TOML long key": (parse_toml, "a." * 20_000 + "b = 1", "nested too deeply"),
    "TOML large number": (parse_toml, "a = 0x" + "f" * 5000, "more than 64 bits"),
    "TOML NUL": (parse_toml, 'a = "\\u0000"', "NUL"),
    "TOML bytes": (parse_toml, b"\xff", "not text in UTF-8"),
    "YAML aliases": (parse_yaml, "a0: &a0 [x, x, x]\n" + _TENFOLD, "too many values"),
    "YAML merged aliases": (parse_yaml, "a0: &a0 {x: 1}\n" + _MERGED, "too many values"),
    "YAML loop": (parse_yaml, "&a [*a]", "what holds it"),
    "YAML nesting": (parse_yaml, "- " * 20_000, "nested too deeply"),
    "YAML digits": (parse_yaml, "a: " + "9" * 5000, "too many digits"),
    "YAML set": (parse_yaml, "!!set {a}", "type set"),
    "YAML object": (parse_yaml, "!!python/object:os.system x", "constructor"),
    "YAML tag": (parse_yaml, "!!timestamp x", "does not fit"),
    "YAML size": (parse_yaml, "a" * 300_000, "more than 262144 bytes"),
    "JSON nesting": (parse_json, "[" * 20_000, "nested too deeply"),
    "JSON digits": (parse_json, "1" * 5000, "too many digits"),
    "JSON NaN": (parse_json, "[NaN]", "NaN is no number"),
    "JSON infinity": (parse_json, "-Infinity", "Infinity is no number"),
    "JSON surrogate": (parse_json, '"\\ud800"', "surrogate"),
    "JSON nothing": (parse_json, "", "Expecting value"),
    "typed nesting": (lambda text, name: decode_json(text, list[Any], name), "[" * 20_000, "deep"),
}


@pytest.mark.parametrize(("parse", "text", "why"), _REFUSED.values(), ids=_REFUSED)
def test_refuses_in_one_line(
    parse: Callable[[str | bytes, str], Any], text: str | bytes, why: str
) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        parse(text, "NAME")
    message = str(caught.value)
    assert message.startswith("NAME")
    assert len(message) < 300
    assert message.isprintable()


def test_dates_are_text() -> None:
    assert parse_toml("a = 2020-01-02\nb = 07:32:00", "x") == {"a": "2020-01-02", "b": "07:32:00"}
    assert parse_yaml("a: 2020-01-02", "x") == {"a": "2020-01-02"}


def test_a_few_aliases_and_a_byte_order_mark_are_fine() -> None:
    text = "\ufeffx: &d {a: 1}\ny: *d\nz: {<<: *d, b: 2}"
    assert parse_yaml(text, "x")["z"] == {"a": 1, "b": 2}
    assert parse_json("\ufeff[1]".encode(), "x") == [1]


def test_numbers_beyond_every_float_are_refused() -> None:
    with pytest.raises(UsageError, match="document"):
        parse_yaml(f"blocks: {':'.join(['59'] * 3000)}.5", "the document")
