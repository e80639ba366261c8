# SPDX-License-Identifier: Apache-2.0
"""Lines of tile code in string literals.

Every line of a literal is looked at, f-strings with `hole` in the place of their expressions. It is
tile code if it parses as Python, less its indentation and with a body after a colon, and

* has a call of the language (`tl.mul(...)`, `tl.program_id(0)`), or
* is a statement (an assignment, `def`, `for`, `with`, `if`, `return`) in a module whose literals
  have such calls; expressions alone are none, nor is what ends like C++ with `;` or `{`.

Docstrings are no literals here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tools.counters.prose import docstrings
from tools.counters.tree import Place, Source

_HOLE, _LANGUAGE = "hole", "tl"


def tile_lines(source: Source) -> list[Place]:
    """List the lines of tile code; those of one literal have the line on which it begins."""
    if f"{_LANGUAGE}." not in source.text:
        return []
    parsed = [
        (line, text, statement)
        for line, literal in sorted(_literals(source))
        for text in literal.splitlines()
        if (statement := _parsed(text)) is not None
    ]
    calls = [_has_call(statement) for _, _, statement in parsed]
    if not any(calls):
        return []
    return [
        Place(source.path, line, text.strip())
        for (line, text, statement), call in zip(parsed, calls, strict=True)
        if call or not isinstance(statement, ast.Expr)
    ]


def _literals(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the strings outside docstrings, each f-string as one."""
    formats = {
        id(part)
        for value in source.nodes(ast.FormattedValue)
        if value.format_spec is not None
        for part in ast.walk(value.format_spec)
    }
    inside = {line for line, _ in docstrings(source)}
    parts = formats | {id(part) for node in source.nodes(ast.JoinedStr) for part in node.values}
    for node in source.nodes(ast.JoinedStr):
        if id(node) not in formats:
            yield node.lineno, "".join(map(_text, node.values))
    for text in source.nodes(ast.Constant):
        if isinstance(text.value, str) and id(text) not in parts and text.lineno not in inside:
            yield text.lineno, text.value


def _text(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else _HOLE


def _parsed(line: str) -> ast.stmt | None:
    """Parse a line as a statement; None if it is none."""
    text = line.strip()
    if not text or text.endswith((";", "{")):
        return None
    if text.startswith(("else:", "elif ", "except", "finally:")):
        text = f"if {_HOLE}: pass\n{text}"
    try:
        (statement,) = ast.parse(f"{text} pass" if text.endswith(":") else text).body
    except (SyntaxError, ValueError):
        return None
    return statement


def _has_call(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == _LANGUAGE
        for node in ast.walk(statement)
    )
