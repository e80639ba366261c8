# SPDX-License-Identifier: Apache-2.0
"""Parse TOML, YAML and JSON that somebody else wrote: one `UsageError` for whatever is wrong.

Texts are bounded in nesting, in the number of values, and in the size of integers, so that nothing
later meets a number that cannot be printed or a structure that cannot be walked. YAML aliases are
refused: a text of 1 KB can stand for billions of values.
"""

from __future__ import annotations

import datetime
import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from npuforge.errors import UsageError
from npuforge.inputs import read_text

MIB = 1 << 20
_MOST_VALUES = 4_000_000
_DEEPEST = 64
_LARGEST = 1 << 64
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_document(path: Path, *, limit: int = MIB, within: Path | None = None) -> Any:
    """Return the content of a `.toml`, `.yaml`, `.yml` or `.json` file."""
    parse = _PARSERS.get(path.suffix)
    if parse is None:
        raise UsageError(f"{path.name[:200]}: the name ends in none of {', '.join(_PARSERS)}")
    return parse(read_text(path, limit, within=within), path.name)


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Return the table of a TOML text."""
    result: dict[str, Any] = _parsed(tomllib.loads, text, name)
    return result


def parse_json(text: str, name: str) -> Any:
    """Return the value of a JSON text."""
    return _parsed(json.loads, text, name)


def parse_yaml(text: str, name: str) -> Any:
    """Return the value of a YAML text; dates are refused, as aliases are."""

    def load(text: str) -> Any:
        depth = 0
        for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
            if isinstance(event, yaml.AliasEvent):
                raise ValueError("YAML aliases are not read")
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST or count > _MOST_VALUES:
                raise ValueError("it is nested too deeply or has too many values")
        return yaml.load(text, Loader=_LOADER)

    return _parsed(load, text, name)


def _parsed(parse: Callable[[str], Any], text: str, name: str) -> Any:
    try:
        value = parse(text)
        for one in _values(value):
            _check(one)
    except RecursionError:
        raise UsageError(f"{name}: it is nested too deeply") from None
    except MemoryError:
        raise UsageError(f"{name}: it does not fit in memory") from None
    except (ValueError, yaml.YAMLError, OverflowError, TypeError, LookupError) as error:
        raise UsageError(f"{name}: {str(error)[:300]}") from None
    return value


def _values(root: Any) -> Iterator[Any]:
    """Yield every value and key; refuse what is nested too deeply."""
    level, count = [root], 0
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for value in level:
            yield value
            if isinstance(value, dict):
                yield from value
                below += value.values()
            elif isinstance(value, list):
                below += value
        count += len(below)
        if not below:
            return
        if count > _MOST_VALUES:
            raise ValueError("it has too many values")
        level = below
    raise ValueError("it is nested too deeply")


def _check(value: Any) -> None:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int):
        if not -_LARGEST < value < _LARGEST:
            raise ValueError("an integer is larger than 64 bits")
    elif isinstance(value, str):
        if not value.isascii():
            value.encode("utf-8")  # a lone surrogate cannot be written or printed
    elif isinstance(value, datetime.date | datetime.time):
        raise ValueError(f"the date {value} is not a value that is known here; quote it as text")
    elif not isinstance(value, float | dict | list):
        raise ValueError(f"a value of type {type(value).__name__} is not known here")


_PARSERS: dict[str, Callable[[str, str], Any]] = {
    ".toml": parse_toml,
    ".yaml": parse_yaml,
    ".yml": parse_yaml,
    ".json": parse_json,
}
