# SPDX-License-Identifier: Apache-2.0
"""Blank what the device compiler would not see, keeping every byte at its place.

Conditions are three-valued: what depends on macros of the build (`DTYPE_X`, project switches) is
unknown, and then both branches stay.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(\w+)((?:[^\n\\]|\\\r?\n|\\.)*)", re.M)
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"", re.S)
_DEFINE = re.compile(rb"\s*(\w+)(\([^)]*\))?(.*)", re.S)
_INCLUDE = re.compile(rb"\s*\"([^\"]+)\"")
_SYSTEM_INCLUDE = re.compile(rb"\s*<([^>]+)>")
_NOT_NEWLINE = re.compile(rb"[^\n]")

# What the build for this architecture defines, and what it never defines.
_DEFINED = {
    "__NPU_ARCH__": 2201,
    "__CCE_AICORE__": 220,
    "__CCE_IS_AICORE__": 1,
    "__cplusplus": 201703,
}
_UNDEFINED = re.compile(
    r"ASCENDC_CPU_DEBUG|__CCE_KT_TEST__|__CCE_UT_TEST__|__DAV_(?!C220)\w+|__ASCENDC_DAVID__"
)


@dataclass(slots=True)
class Macros:
    """The macros and headers seen so far, in the order the compiler would meet them."""

    objects: dict[str, bytes] = field(default_factory=dict)
    functions: dict[str, bytes] = field(default_factory=dict)
    system_headers: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.objects or name in self.functions

    def define(self, rest: bytes) -> None:
        match = _DEFINE.match(rest)
        if match is None:
            return
        table = self.objects if match.group(2) is None else self.functions
        table[match.group(1).decode()] = match.group(3).replace(b"\\\n", b" ").strip()

    def value(self, name: str) -> int | None:
        """The number a macro stands for, or None where that is unknown."""
        if name in _DEFINED:
            return _DEFINED[name]
        return _number(self.objects.get(name, b"").decode(errors="replace"))

    def defined(self, name: str) -> bool | None:
        """Whether the macro is defined: yes, no, or unknown."""
        if name in _DEFINED or name in self:
            return True
        return False if _UNDEFINED.fullmatch(name) else None


def blank(text: bytes) -> bytes:
    """The same bytes as spaces, line ends kept."""
    return _NOT_NEWLINE.sub(b" ", text)


def visible(text: bytes, macros: Macros, on_include: Callable[[str], None]) -> bytes:
    """`text` without comments, directives and inactive branches; `macros` learns its definitions.

    `on_include` is called for each active local include, at its place.
    """
    text = _COMMENT.sub(lambda m: m.group() if m.group()[:1] == b'"' else blank(m.group()), text)
    out: list[bytes] = []
    branches = _Branches(macros)
    position = 0
    for match in _DIRECTIVE.finditer(text):
        chunk = text[position : match.start()]
        out.append(chunk if branches.active else blank(chunk))
        out.append(blank(match.group()))
        position = match.end()
        keyword, rest = match.group(1), match.group(2)
        if branches.step(keyword, rest) or not branches.active:
            continue
        if keyword == b"define":
            macros.define(rest)
        elif keyword == b"undef":
            name = rest.strip().decode(errors="replace")
            macros.objects.pop(name, None)
            macros.functions.pop(name, None)
        elif keyword == b"include":
            if local := _INCLUDE.match(rest):
                on_include(os.fsdecode(local.group(1)))
            elif system := _SYSTEM_INCLUDE.match(rest):
                macros.system_headers.add(system.group(1).decode(errors="replace"))
    chunk = text[position:]
    out.append(chunk if branches.active else blank(chunk))
    return b"".join(out)


class _Branches:
    """The stack of open conditionals."""

    def __init__(self, macros: Macros) -> None:
        self._macros = macros
        self._stack: list[tuple[bool, bool | None]] = []  # (outer active, an earlier branch taken)
        self.active = True

    def step(self, keyword: bytes, rest: bytes) -> bool:
        """Follow one directive; True when it was a conditional."""
        if keyword in (b"if", b"ifdef", b"ifndef"):
            value = self._condition(keyword, rest)
            self._stack.append((self.active, value))
            self.active = self.active and value is not False
        elif keyword in (b"elif", b"else") and self._stack:
            outer, taken = self._stack[-1]
            value = (
                True
                if keyword == b"else"
                else evaluate(rest.decode(errors="replace"), self._macros)
            )
            self.active = outer and taken is not True and value is not False
            self._stack[-1] = (outer, taken or value)
        elif keyword == b"endif" and self._stack:
            self.active = self._stack.pop()[0]
        else:
            return False
        return True

    def _condition(self, keyword: bytes, rest: bytes) -> bool | None:
        text = rest.decode(errors="replace").strip()
        if keyword == b"if":
            return evaluate(text, self._macros)
        known = self._macros.defined(text)
        if keyword == b"ifdef":
            return known
        return None if known is None else not known


_DECIMAL = re.compile(r"[0-9]{1,20}")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
_TOKEN = re.compile(r"\s*(0[xX][0-9a-fA-F]+|\w+|&&|\|\||[=!<>]=|[!<>()+\-*])")
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}


def evaluate(expression: str, macros: Macros) -> bool | None:
    """The truth of an `#if` expression, None where it depends on unknown macros."""
    parser = _Expression([m.group(1) for m in _TOKEN.finditer(expression)], macros)
    value = parser.either()
    return None if value is None else bool(value)


class _Expression:
    """Recursive descent over the tokens of an `#if`; None is 'unknown' and spreads."""

    def __init__(self, tokens: list[str], macros: Macros) -> None:
        self._tokens = tokens[::-1]
        self._macros = macros

    def _next(self) -> str:
        return self._tokens.pop() if self._tokens else ""

    def _peek(self) -> str:
        return self._tokens[-1] if self._tokens else ""

    def either(self) -> int | None:
        left = self._both()
        while self._peek() == "||":
            self._next()
            right = self._both()
            if left or right:
                left = 1
            elif left is not None and right is not None:
                left = 0
            else:
                left = None
        return left

    def _both(self) -> int | None:
        left = self._comparison()
        while self._peek() == "&&":
            self._next()
            right = self._comparison()
            if left == 0 or right == 0:
                left = 0
            elif left is not None and right is not None:
                left = 1
            else:
                left = None
        return left

    def _comparison(self) -> int | None:
        left = self._primary()
        while (operator := self._peek()) in _COMPARE:
            self._next()
            right = self._primary()
            known = left is not None and right is not None
            left = int(_COMPARE[operator](left or 0, right or 0)) if known else None
        return left

    def _primary(self) -> int | None:
        token = self._next()
        if token == "!":
            value = self._primary()
            return None if value is None else int(not value)
        if token == "(":
            value = self.either()
            self._next()
            return value
        if token == "defined":
            name = self._next()
            if name == "(":
                name = self._next()
                self._next()
            known = self._macros.defined(name)
            return None if known is None else int(known)
        if token[:1].isdigit():
            return _number(token.rstrip("uUlL"))
        if self._macros.defined(token) is False:
            return 0
        return self._macros.value(token)


def _number(digits: str) -> int | None:
    """Return a number of at most 64 bits; None for any other text."""
    if _DECIMAL.fullmatch(digits):
        return int(digits)
    return int(digits, 16) if _HEXADECIMAL.fullmatch(digits) else None
