# SPDX-License-Identifier: Apache-2.0
"""The text of an entry: Markdown with TOML in front, the same in files, stores and on the screen.

Reading is strict: a key, a heading or a stretch of text that nobody asked for is an error, as it
would be lost when the entry is written again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from npuforge.errors import UsageError
from npuforge.knowledge.entry import Entry

_RULER = "+++"
_SECTIONS = ("before", "after", "launch")
_HEADING = re.compile(r"## (\S.*?)\s*")
_FENCE = re.compile(r"(`{3,})(\w*)\s*")
_LANGUAGES = {"ascendc": "cpp", "tile": "python"}


def parse(text: str) -> Entry:
    """The entry; `UsageError` says in a line what is wrong."""
    lines = text.replace("\r\n", "\n").lstrip("\ufeff").strip("\n").split("\n")
    if lines[0].strip() != _RULER or _RULER not in [line.strip() for line in lines[1:]]:
        raise UsageError(f"an entry begins with TOML between two lines of {_RULER}")
    end = [line.strip() for line in lines].index(_RULER, 1)
    try:
        table = msgspec.toml.decode("\n".join(lines[1:end]))
    except msgspec.DecodeError as error:
        raise UsageError(f"the front of the entry is no TOML: {error}") from None
    for part in ("rationale", *_SECTIONS):
        if part in table:
            raise UsageError(f"{part!r} stands below the front of an entry, not in it")
    table |= _body(lines[end + 1 :])
    try:
        return msgspec.convert(table, Entry)
    except msgspec.ValidationError as error:
        raise UsageError(f"entry {table.get('id', '?')!r}: {error}") from None


def read(path: Path) -> Entry:
    """The entry of a file, which is named like it."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text") from None
    try:
        entry = parse(text)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    if entry.id != path.stem:
        raise UsageError(f"{path}: its entry is called {entry.id!r}")
    return entry


def dump(entry: Entry) -> str:
    """The text of which `parse` makes the entry again."""
    known: dict[str, Any] = msgspec.to_builtins(entry)
    parts = [_RULER, *_toml(known), _RULER, entry.rationale]
    for name in _SECTIONS:
        code: str = known[name]
        if code:
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", code)), default=0))
            language = "toml" if name == "launch" else _LANGUAGES[entry.language]
            parts += ["", f"## {name.capitalize()}", f"{fence}{language}", code[:-1], fence]
    return "\n".join(parts) + "\n"


def _body(lines: list[str]) -> dict[str, str]:
    """The rationale, and the program under each heading."""
    starts = [number for number, line in enumerate(lines) if _section(lines, number)]
    found = {"rationale": "\n".join(lines[: starts[0] if starts else len(lines)]).strip()}
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        name = _section(lines, start)
        if name not in _SECTIONS:
            raise UsageError(f"no section {name!r}; sections: Before, After, Launch")
        if name in found:
            raise UsageError(f"two sections {name!r}")
        found[name] = _fenced(lines[start + 1 : stop], name)
    if missing := [name for name in ("after", "launch") if name not in found]:
        raise UsageError(f"the section {missing[0].capitalize()} is missing")
    return found


def _section(lines: list[str], number: int) -> str | None:
    """The name of the section that begins here: headings inside programs are none."""
    match = _HEADING.fullmatch(lines[number])
    if match is None or _in_fence(lines, number):
        return None
    return match[1].lower()


def _in_fence(lines: list[str], number: int) -> bool:
    mark = ""
    for line in lines[:number]:
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        if not mark:
            mark = match[1]
        elif not match[2] and len(match[1]) >= len(mark):
            mark = ""
    return bool(mark)


def _fenced(lines: list[str], name: str) -> str:
    used = [number for number, line in enumerate(lines) if line.strip()]
    first = _FENCE.fullmatch(lines[used[0]]) if used else None
    last = lines[used[-1]].strip() if used else ""
    if first is None or len(used) < 2 or set(last) != {"`"} or len(last) < len(first[1]):
        raise UsageError(f"the section {name!r} is one block between lines of ```")
    return "\n".join(lines[used[0] + 1 : used[-1]])


def _toml(known: Mapping[str, Any]) -> Iterator[str]:
    """The front: single values, then tables. Values that are empty are left out."""
    below = (*_SECTIONS, "rationale", "auto_sync", "boundary", "evidence")
    for name in (name for name in known if name not in below):
        if known[name] or name in ("operators", "dtypes", "soc"):
            yield f"{name} = {_value(known[name])}"
    if not known["auto_sync"]:
        yield "auto_sync = false"
    for boundary in known["boundary"]:
        yield from ("", "[[boundary]]", *(f"{n} = {_value(v)}" for n, v in boundary.items()))
    if known["evidence"] is not None:
        yield from ("", "[evidence]")
        for name, value in known["evidence"].items():
            if value not in ("", None):
                yield f"{name} = {_value(value)}"


def _value(value: Any) -> str:
    """As TOML; only single printable lines come here, whose JSON form is TOML as well."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {_value(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(inner) for inner in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
