# SPDX-License-Identifier: Apache-2.0
"""Layout of emitted C++: statements joined to one line each, then broken at 120 columns.

A line that is too long breaks after a comma or before an operator: where the brackets are
shallowest if the rest then fits, else where the line is well filled too. What follows hangs under
the bracket it belongs to.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

WIDTH = 120
_INDENT = 4
_DEPTH_COST = 24  # columns that a break one bracket further out may leave empty
_ASSIGNMENT_COST = 32
_DEEPEST_HANG = 72  # further right there is no room left for the rest
_ATOM = re.compile(
    r"""
    "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*'      # literals
  | \w+<[\w\s,:*&]*>                           # a name with its template arguments
  | \s+ | \w+ | && | \|\| | [<>=!+\-*/]=? | .
    """,
    re.VERBOSE,
)
# Columns a line may rather stay short than break before one of these.
_OPERATORS = {"&&": 0, "||": 0, "?": 8, ":": 8, "+": 8, "-": 8, "*": 24, "/": 24}

_OPERATOR_FIRST = re.compile(r"\s+(?:&&|\|\||[?:+\-*/]) ")


def format_cpp(lines: Iterable[str]) -> str:
    """The text of a source file: no line over 120 columns, no blank line at the end."""
    wrapped = [part for line in _joined(lines) for part in wrap_line(line)]
    return "\n".join(wrapped).rstrip() + "\n"


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Statements that were broken, inside brackets or before an operator, each on one line."""
    held: str | None = None
    for line in (part for text in lines for part in text.split("\n")):
        if line.lstrip().startswith(("//", "#")):
            if held is not None:
                yield held
                held = None
            yield line
        elif held is not None and (_continues(held) or _OPERATOR_FIRST.match(line)):
            held = f"{held} {line.lstrip()}"
        else:
            if held is not None:
                yield held
            held = line
    if held is not None:
        yield held


def _continues(line: str) -> bool:
    if "//" in line:
        return False
    if line.count("(") > line.count(")"):
        return not line.endswith("{")
    return line.endswith(",") and line.count("{") > line.count("}")


def wrap_line(line: str) -> list[str]:
    """One line as lines of at most 120 columns, where there is a place to break."""
    if len(line) <= WIDTH or line.lstrip().startswith("#"):
        return [line]
    indent = len(line) - len(line.lstrip())
    code, comment = _split_comment(line)
    if comment is not None:
        prefix = " " * indent + "// "
        notes = textwrap.wrap(
            comment, WIDTH, initial_indent=prefix, subsequent_indent=prefix, break_long_words=False
        )
        return [*notes, *(wrap_line(code) if code.strip() else [])]
    return list(_pieces(line, indent))


def _split_comment(line: str) -> tuple[str, str | None]:
    column = 0
    for atom in _ATOM.findall(line):
        if atom == "/" and line.startswith("//", column):
            return line[:column].rstrip(), line[column + 2 :].strip()
        column += len(atom)
    return line, None


@dataclass(frozen=True, slots=True)
class _Break:
    column: int  # the rest starts here
    hang: int  # and is indented so far
    cost: int


def _pieces(line: str, indent: int) -> Iterator[str]:
    hangs = [indent + _INDENT]
    while len(line) > WIDTH:
        places, stacks = _breaks(line, hangs)
        fitting = [place for place in places if len(line[: place.column].rstrip()) <= WIDTH]
        if not fitting:
            break
        final = [place for place in fitting if place.hang + len(line) - place.column <= WIDTH]
        if final:
            best = min(final, key=lambda place: (place.cost, -place.column))
        else:
            best = min(fitting, key=lambda place: place.cost - place.column)
        yield line[: best.column].rstrip()
        hangs = stacks[best.column]
        line = " " * best.hang + line[best.column :].lstrip()
    yield line


def _breaks(line: str, hangs: list[int]) -> tuple[list[_Break], dict[int, list[int]]]:
    """Places to break, and the brackets open at each as the columns that hang under them."""
    stack = list(hangs)
    places: list[_Break] = []
    stacks: dict[int, list[int]] = {}
    column = 0
    start = len(line) - len(line.lstrip())
    before = ""

    def note(at: int, cost: int = 0) -> None:
        if at > start:
            places.append(_Break(at, stack[-1], cost + _DEPTH_COST * len(stack)))
            stacks[at] = list(stack)

    for atom in _ATOM.findall(line):
        end = column + len(atom)
        if atom in "([{" and atom:
            deep = end > _DEEPEST_HANG
            stack.append(stack[-1] + _INDENT if deep else end)
            if deep:
                note(end)
        elif atom in ")]}" and atom:
            if len(stack) > 1:
                stack.pop()
        elif atom == ",":
            note(end)
        elif atom in _OPERATORS and before.isspace() and line[end : end + 1] == " ":
            note(column, _OPERATORS[atom])
        elif atom == "=" and before.isspace():
            note(end, _ASSIGNMENT_COST)
        before = atom
        column = end
    return places, stacks
