# SPDX-License-Identifier: Apache-2.0
"""The only parsers of JSON, TOML and YAML that a user, a checkout or an endpoint supplies.

A hostile document is small and expands: nesting that ends the stack, numbers of a million digits,
aliases that repeat each other. Rules for all three forms:
    SIZE     a text has at most 16 MiB, in YAML, whose parser is slow, 256 KiB; `limit` changes that
    DEPTH    lists and tables are nested at most 100 deep
    ALIASES  a YAML document with its aliases written out has a bounded number of values
    NUMBERS  an integer fits in 64 bits, signed or not; JSON has no NaN and no infinity
    TEXT     dates are text; no text has a NUL or half of a surrogate pair
Each fault is a `UsageError` of one line that names the document. A byte order mark is skipped.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from datetime import date, time
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec
import yaml

from npuforge.errors import UsageError
from npuforge.untrusted.inputs import read_input

_T = TypeVar("_T")

TEXT_LIMIT = 16 << 20
YAML_LIMIT = 256 << 10
_DEEPEST = 100
_MOST_EXPANDED = 100_000  # values that aliases may add to a YAML document
_LEAST_NUMBER, _LARGEST_NUMBER = -(1 << 63), (1 << 64) - 1
_UNUSABLE = re.compile("[\0\ud800-\udfff]")
_SHOWN = 200
# Keys like a.b.c take the parser of TOML time with the square of their parts, so these are counted.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{_DEEPEST}}}")


def parse_json(text: str | bytes, name: object, *, limit: int = TEXT_LIMIT) -> Any:
    """Return the value of a JSON document; `name` is what messages call it."""
    return _parsed(_load_json, text, name, limit)


def parse_toml(text: str | bytes, name: object, *, limit: int = TEXT_LIMIT) -> dict[str, Any]:
    """Return the table of a TOML document; its dates are text."""
    table: dict[str, Any] = _parsed(_load_toml, text, name, limit)
    return table


def parse_yaml(text: str | bytes, name: object, *, limit: int = YAML_LIMIT) -> Any:
    """Return the value of a YAML document of plain types; its dates are text."""
    return _parsed(_load_yaml, text, name, limit)


def read_document(path: Path, *, limit: int = TEXT_LIMIT, within: Path | None = None) -> Any:
    """Return the value of a `.toml`, `.yaml`, `.yml` or `.json` file, read by `read_input`."""
    parse = _BY_SUFFIX.get(path.suffix)
    if parse is None:
        raise UsageError(f"{path.name[:_SHOWN]}: the name ends in none of {', '.join(_BY_SUFFIX)}")
    return parse(read_input(path, limit, within=within), path.name)


def decode_json(text: str | bytes, form: type[_T], name: object) -> _T:
    """Return the JSON document as an object of the type `form`; each field's type is checked."""
    try:
        return msgspec.json.decode(text, type=form)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise _refusal(name, error) from None


def convert(value: object, form: type[_T], name: object) -> _T:
    """Return a parsed document's value as an object of the type `form`."""
    try:
        return msgspec.convert(value, form)
    except (msgspec.ValidationError, RecursionError) as error:
        raise _refusal(name, error) from None


def _parsed(load: Callable[[str], Any], text: str | bytes, name: object, limit: int) -> Any:
    if len(text) > limit:
        raise UsageError(f"{name} has more than {limit} bytes, which are not read")
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        return _plain(load(decoded.removeprefix("\ufeff")))
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not text in UTF-8") from None
    except (ValueError, ArithmeticError, RecursionError, MemoryError, yaml.YAMLError) as error:
        raise _refusal(name, error) from None


def _refusal(name: object, error: Exception) -> UsageError:
    if isinstance(error, RecursionError | MemoryError):
        return UsageError(f"{name} is nested too deeply")
    reason = str(error)
    if "integer string conversion" in reason:
        reason = "a number has too many digits"
    shown = reason if len(reason) <= _SHOWN else f"{reason[:_SHOWN]}..."
    return UsageError(f"{name}: {shown}")


def _plain(value: Any, depth: int = 0) -> Any:
    """Return the value with dates as text; refuse what no document of this package may hold."""
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, str):
        if _UNUSABLE.search(value):
            raise ValueError("a text holds a NUL or half of a surrogate pair")
        return value
    if isinstance(value, dict):
        return {_plain(key, depth): _plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, depth + 1) for each in value]
    if isinstance(value, int) and not _LEAST_NUMBER <= value <= _LARGEST_NUMBER:
        raise ValueError("a number has more than 64 bits")
    if isinstance(value, date | time):
        return value.isoformat()
    if value is None or isinstance(value, int | float):
        return value
    raise ValueError(f"a value of the type {type(value).__name__} has no use here")


def _load_toml(text: str) -> dict[str, Any]:
    if _LONG_KEY.search(text):
        raise RecursionError
    return tomllib.loads(text)


def _load_json(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


class _Loader(yaml.SafeLoader):
    """Compose plain YAML while the depth and the number of values stay within bounds."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._values = 0
        self._most = len(text) + _MOST_EXPANDED
        self._sizes: dict[int, int] = {}  # values in a node, by its identity

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node; an alias counts as much as what it stands for."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise RecursionError
        before = self._values
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if not is_alias:
            self._values += 1
            self._sizes[id(node)] = self._values - before
        elif id(node) in self._sizes:
            self._values += self._sizes[id(node)]
        else:
            raise ValueError("an alias stands for what holds it")
        if self._values > self._most:
            raise ValueError("its aliases stand for too many values")
        self._depth -= 1
        return node


# Dates stay text: a text that looks like one is no other type than its neighbour.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:timestamp"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _load_yaml(text: str) -> Any:
    loader = _Loader(text)
    try:
        return loader.get_single_data()
    except (AttributeError, LookupError):
        raise ValueError("a tag does not fit its value") from None
    finally:
        loader.dispose()


_BY_SUFFIX: dict[str, Callable[[bytes, object], Any]] = {
    ".toml": parse_toml,
    ".yaml": parse_yaml,
    ".yml": parse_yaml,
    ".json": parse_json,
}
