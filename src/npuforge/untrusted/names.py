# SPDX-License-Identifier: Apache-2.0
"""Check names and words from answers, launch files, projects and modules before they are used.

A name ends up in a path, C++ text, a compiler's option, a line of a plan or a report. Each kind has
one pattern, of ASCII and of bounded length, that is safe in all of these places.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Literal

from npuforge.errors import UsageError

Kind = Literal["identifier", "entry", "argument", "word", "define", "type", "file"]

_MOST = 128
_MOST_LONG = 512
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"

# A kind's pattern, its longest text, and what it is in words.
_KINDS: dict[Kind, tuple[re.Pattern[str], int, str]] = {
    # An operator, a kernel, a module, an attribute, a class, a field, a preprocessor name.
    "identifier": (re.compile(_NAME), _MOST, "letters, digits and underscores"),
    # A kernel, or an instance of a template: `add<float, 3>`.
    "entry": (
        re.compile(rf"(?:::)?{_NAME}(?:::{_NAME})* {{0,4}}(?:<[A-Za-z0-9_ :,.<>()*&+-]*>)?"),
        _MOST_LONG,
        "a function's name, with template arguments where it has some",
    ),
    # A tensor or other argument of a launch, a member of a list: `x`, `x[0]`, `x.y`.
    "argument": (
        re.compile(rf"{_NAME}(?:\.[A-Za-z0-9_]+|\[\d{{1,5}}\])*"),
        _MOST,
        "letters, digits and underscores",
    ),
    # A format, an element type, a chip, a setting's key: `FRACTAL_NZ`, `910b2`, `ascend910_93`.
    "word": (re.compile(_PART), _MOST, "letters, digits and the characters _.+-"),
    # A preprocessor name that a build sets.
    "define": (
        re.compile(rf"{_NAME}(?:\((?:[A-Za-z0-9_, ]|\.\.\.)*\))?"),
        _MOST,
        "a preprocessor name",
    ),
    # A C++ type: `ns::Tiling`, `std::vector<int>`, `unsigned int`.
    "type": (re.compile(r"[A-Za-z_:][A-Za-z0-9_ :<>,*&]*"), _MOST_LONG, "a C++ type"),
    # A file below a folder: `csrc/op.cpp`.
    "file": (re.compile(rf"{_PART}(?:/{_PART}){{0,15}}"), _MOST_LONG // 2, "a file's path below"),
}
_TASK = re.compile(r"(?!\.)[^/\\]{1,120}(?:/(?!\.)[^/\\]{1,120}){0,7}")
_RESERVED = re.compile(r"(?i:npuforge)")
_DEFINED_TEXT = re.compile(r"[ -~]{0,2000}")


def checked_name(kind: Kind, text: object, what: str = "name") -> str:
    """Return `text` if it is a legal name of its kind; `what` says in the message what it names."""
    pattern, most, allowed = _KINDS[kind]
    if not isinstance(text, str):
        raise UsageError(f"{what}: a name is text, not {type(text).__name__}")
    if len(text) > most:
        raise UsageError(f"{what} {shown(text)} is too long: at most {most} characters")
    if not pattern.fullmatch(text):
        raise UsageError(f"{what} {shown(text)} is not allowed: {allowed}")
    return text


def is_name(kind: Kind, text: object) -> bool:
    """Tell whether `checked_name` would return the text."""
    pattern, most, _ = _KINDS[kind]
    return isinstance(text, str) and len(text) <= most and pattern.fullmatch(text) is not None


def checked_task(text: str) -> str:
    """Return a task's name, a path below a run's folder: printable, without hidden folders."""
    if not text.isprintable() or not _TASK.fullmatch(text):
        raise UsageError(f"the name of a task {shown(text)} is not a path below a folder")
    return text


def checked_path(path: PurePath) -> str:
    """Return a path as a source can name it: one printable line without quotes or backslashes."""
    text = str(path)
    if not text.isprintable() or any(character in text for character in '"\\') or len(text) > 4000:
        raise UsageError(f"the path {shown(text)} cannot stand in a source")
    return text


def checked_define(name: str, value: str | None) -> str:
    """Return `NAME` or `NAME=VALUE` for a compiler; names of our own runtime are refused."""
    checked_name("define", name, "define")
    if _RESERVED.match(name):
        raise UsageError(f"define {shown(name)} is not allowed: the name belongs to the runtime")
    if value is None:
        return name
    if not _DEFINED_TEXT.fullmatch(value):
        raise UsageError(f"the value of define {name} is not one line of at most 2000 characters")
    return f"{name}={value}"


def shown(text: str) -> str:
    """Return the text quoted for a message: one line, of bounded length."""
    quoted = repr(text[:81])
    return quoted if len(text) <= 80 else f"{quoted[:80]}...'"
