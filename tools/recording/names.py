# SPDX-License-Identifier: Apache-2.0
"""Equality of texts whose own names are renamed, one to one in each file and function.

Layout does not count: lines with longer names are broken. Comments may have renamed words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tools.recording.store import Texts
from tools.recording.tokens import Token, declared_names, program_tokens, source_tokens

_SOURCES = (".cpp", ".h", ".asc")
_PROGRAMS = (".tile.py",)
_NUMBERS = re.compile(r"tiling\d*\.txt")
_WORDS = re.compile(r"\w+|[^\w\s]")


def equal_but_for_names(first: Texts, second: Texts, *, comments: bool = True) -> bool:
    """Compare two items; without `comments` these may differ in any way."""
    if list(first) != list(second):
        return False
    one, other = _Project(first), _Project(second)
    paths = [path for path in first if first[path] != second[path]]
    return all(_match(path, one, other, comments=comments) for path in paths)


@dataclass(slots=True)
class _Renaming:
    """Names of the first text with those of the second, one to one, by scope."""

    there: dict[tuple[int, str], str] = field(default_factory=dict)
    back: dict[tuple[int, str], str] = field(default_factory=dict)

    def admits(self, scope: int, name: str, other: str) -> bool:
        there = self.there.setdefault((scope, name), other)
        return there == other and self.back.setdefault((scope, other), name) == name

    def renames(self, word: str, other: str) -> bool:
        """Tell whether some scope has this renaming."""
        return any(name == word and known == other for (_, name), known in self.there.items())


@dataclass(slots=True)
class _Project:
    """An item's texts, and the names that the AscendC of each variant declares."""

    texts: Texts
    known: dict[str, set[str]] = field(default_factory=dict)

    def declared(self, path: str) -> set[str]:
        """The names declared beside a file: in its folder `variant1`, or anywhere."""
        folder = path.split("/", 1)[0] + "/" if path.startswith("variant") else ""
        if folder not in self.known:
            own = [one for one in self.texts if one.startswith(folder) and one.endswith(_SOURCES)]
            found = (declared_names(self.texts[one]) for one in own)
            self.known[folder] = set[str]().union(*found)
        return self.known[folder]

    def tokens(self, path: str) -> list[Token] | None:
        """The tokens of a file; None for a file of another kind."""
        text = self.texts[path]
        if path.endswith(_SOURCES):
            return source_tokens(text, self.declared(path))
        try:
            return program_tokens(text) if path.endswith(_PROGRAMS) else None
        except SyntaxError:
            return None


def _match(path: str, first: _Project, second: _Project, *, comments: bool) -> bool:
    if _NUMBERS.fullmatch(path.rsplit("/", 1)[-1]):
        known, known_there = first.declared(path), second.declared(path)
        return _same_numbers(first.texts[path], second.texts[path], known, known_there)
    one, other = first.tokens(path), second.tokens(path)
    if one is None or other is None:
        return False
    if not comments:
        one = [token for token in one if token.kind != "comment"]
        other = [token for token in other if token.kind != "comment"]
    return _same_tokens(one, other)


def _same_tokens(one: Sequence[Token], other: Sequence[Token]) -> bool:
    if len(one) != len(other):
        return False
    renaming = _Renaming()
    remarks: list[tuple[str, str]] = []
    for token, twin in zip(one, other, strict=True):
        if token.kind != twin.kind:
            return False
        if token.kind == "comment":
            remarks.append((token.text, twin.text))
        elif token.kind == "name":
            if token.scope != twin.scope or not renaming.admits(token.scope, token.text, twin.text):
                return False
        elif token.text != twin.text:
            return False
    return all(_same_words(text, twin, renaming) for text, twin in remarks)


def _same_words(text: str, other: str, renaming: _Renaming) -> bool:
    words, others = _WORDS.findall(text), _WORDS.findall(other)
    return len(words) == len(others) and all(
        word == twin or renaming.renames(word, twin)
        for word, twin in zip(words, others, strict=True)
    )


def _same_numbers(text: str, other: str, known: set[str], known_there: set[str]) -> bool:
    """Lines `name = number`: names that the AscendC declares may be others."""
    lines = [line.partition(" = ") for line in text.splitlines()]
    others = [line.partition(" = ") for line in other.splitlines()]
    return len(lines) == len(others) and all(
        value == twin_value and (name == twin or (name in known and twin in known_there))
        for (name, _, value), (twin, _, twin_value) in zip(lines, others, strict=True)
    )
