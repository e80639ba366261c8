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
from npuforge.untrusted.documents import convert, parse_toml
from npuforge.untrusted.inputs import read_text

_RULER = "+++"
_LONGEST = 400_000  # two programs and a launch file, each as long as one may be, and words
_LONGEST_NAME = 80
_LONGEST_HEADING = 200
_SECTIONS = ("before", "after", "launch")
_HEADING = re.compile(r"## (\S.*?)\s*")
_FENCE = re.compile(r"(`{3,})(\w*)\s*")
_LANGUAGES = {"ascendc": "cpp", "tile": "python"}


def parse(text: str) -> Entry:
    """The entry; `UsageError` says in a line what is wrong."""
    if len(text) > _LONGEST:
        raise UsageError(f"an entry has at most {_LONGEST} characters")
    lines = text.replace("\r\n", "\n").lstrip("\ufeff").strip("\n").split("\n")
    if lines[0].strip() != _RULER or _RULER not in [line.strip() for line in lines[1:]]:
        raise UsageError(f"an entry begins with TOML between two lines of {_RULER}")
    end = [line.strip() for line in lines].index(_RULER, 1)
    table = parse_toml("\n".join(lines[1:end]), "the front of the entry is no TOML")
    for part in ("rationale", *_SECTIONS):
        if part in table:
            raise UsageError(f"{part!r} stands below the front of an entry, not in it")
    table |= _body(lines[end + 1 :])
    return convert(table, Entry, f"entry {str(table.get('id', '?'))[:_LONGEST_NAME]!r}")


def read(path: Path) -> Entry:
    """The entry of a file, which is named like it."""
    try:
        entry = parse(read_text(path, 4 * _LONGEST))
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
    starts = list(_sections(lines))
    found = {"rationale": "\n".join(lines[: starts[0] if starts else len(lines)]).strip()}
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        name = _heading(lines[start])
        if name not in _SECTIONS:
            raise UsageError(f"no section {name!r}; sections: Before, After, Launch")
        if name in found:
            raise UsageError(f"two sections {name!r}")
        found[name] = _fenced(lines[start + 1 : stop], name)
    if missing := [name for name in ("after", "launch") if name not in found]:
        raise UsageError(f"the section {missing[0].capitalize()} is missing")
    return found


def _sections(lines: list[str]) -> Iterator[int]:
    """Yield the numbers of lines where a section begins: headings inside programs are none."""
    mark = ""
    for number, line in enumerate(lines):
        match = _FENCE.fullmatch(line)
        if match is None:
            if not mark and _heading(line):
                yield number
        elif not mark:
            mark = match[1]
        elif not match[2] and len(match[1]) >= len(mark):
            mark = ""


def _heading(line: str) -> str:
    """Return the name of the section that a line begins; nothing if it begins none."""
    match = _HEADING.fullmatch(line) if len(line) <= _LONGEST_HEADING else None
    return match[1].lower() if match is not None else ""


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
