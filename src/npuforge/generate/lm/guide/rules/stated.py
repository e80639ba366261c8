# SPDX-License-Identifier: Apache-2.0
"""The instruction of an operation that is one: element by element, of buffers that are there.

What a line of the question says leaves no choice once its operands and the buffer of its value are
known. Where a model's line is refused at that place, this one is given.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from npuforge.generate.lm.form.quoted import indentation, last_quoted
from npuforge.generate.lm.form.single import arguments
from npuforge.generate.lm.guide.facts.columns import taken
from npuforge.generate.lm.guide.facts.held import free_name
from npuforge.generate.lm.guide.facts.meaning import Meaning, known_operations
from npuforge.generate.lm.guide.facts.purpose import FOLDS, ROWS, STREAM, Purpose
from npuforge.generate.lm.guide.rules.parted import pointers

_MADE = re.compile(r"^ +(\w+) = tl\.alloc_ub\((\(.*?\)|\w+), dtype=tl\.float32\)$")
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
_EXTENT = re.compile(r"n[a-z]{1,2}")
_ROOM = re.compile(r"^ +(\w+) = tl\.alloc_ub\((\(.*?\)|\w+), dtype=tl\.float32", re.MULTILINE)
_LOAD = re.compile(r"^ +tl\.load\(([^,]+), (\w+)\[", re.MULTILINE)
_OF_ROWS = {"(tile, cols)": "[:n, :]", "tile": "[:n]"}
_OF_ELEMENTS = {"tile": "[:m]", "8": "[:1]"}
_OF_TWO = frozenset({"add", "sub", "mul", "div", "maximum", "minimum"})
# How a smaller buffer is read by one with all rows and columns.
_SPREAD = {"tile": "[:n, None]", "cols": "[:]"}


def instruction(body: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """What must stand instead of the last line of a kernel's body, right after a value's buffer."""
    lines = body.rstrip("\n").splitlines()
    made = _MADE.match(lines[-2]) if len(lines) > 1 else None
    value = last_quoted(body)
    operation = meaning.operations.get(value, "")
    known = purpose.way.startswith((ROWS, STREAM, *FOLDS))
    if made is None or not known or not operation:
        return None
    results = {f"{name}_out" for name, of in meaning.results.items() if of == value}
    if made[1] in {value, *results} and made[2] == "tile":
        line = taken(value, made[1], dict(_ROOM.findall("\n".join(lines[:-2]))), meaning)
        if line is not None:
            return f"{indentation(lines[-2])}{line}"
    parts = pointers(purpose, meaning)
    if meaning.moves and not parts:
        return None
    word = operation.partition(".")[0]
    taught = known_operations().get(operation)
    by_rows = purpose.way.startswith(ROWS) or "rows" in purpose.parameters
    index = (_OF_ROWS if by_rows else _OF_ELEMENTS).get(made[2])
    if made[1] not in {value, *results} or index is None:
        return None
    if taught is None or [word] not in taught.instructions:
        return None
    rooms = dict(_ROOM.findall("\n".join(lines[:-2])))
    loaded = {parts[place]: buffer for place, buffer in _LOAD.findall(body) if place in parts}
    given = arguments(meaning.lines[value].partition("(")[2].rpartition("): ")[0])
    if len(given) != (2 if word in _OF_TWO else 1) or (word not in _OF_TWO and taught.numbers):
        return None  # it takes more than its operands
    there = _There(rooms, loaded, body)
    read = [_operand(one, made[2], index, there, meaning) for one in given]
    operands = [one for one in read if one is not None]
    if len(operands) < len(read):
        return None
    first: list[str] = []
    if not any(one.endswith(index) for one in operands):
        first = _repeated(operands, made[2], index, body)
        if not first:
            return None
    done = f"tl.{word}({made[1]}{index}, {', '.join(operands)})"
    return "\n".join(f"{indentation(lines[-2])}{line}" for line in (*first, done))


def _repeated(operands: list[str], shape: str, index: str, body: str) -> list[str]:
    """The lines that repeat the column among two operands, of which neither has all elements; it
    is what is repeated in its place. An instruction repeats no more than one."""
    columns = [place for place, one in enumerate(operands) if one.endswith(_SPREAD["tile"])]
    if len(columns) != 1:
        return []
    room = free_name(body)
    column = operands[columns[0]]
    operands[columns[0]] = f"{room}{index}"
    return [
        f"{room} = tl.alloc_ub({shape}, dtype=tl.float32)",
        f"tl.broadcast({room}{index}, {column})",
    ]


class _There(NamedTuple):
    """What a kernel has so far: buffers by their shapes, those of parts of tensors by the values
    that these are, and its lines."""

    rooms: dict[str, str]
    loaded: dict[str, str]
    body: str


def _operand(name: str, shape: str, index: str, there: _There, meaning: Meaning) -> str | None:
    """An operand as an instruction reads it."""
    if _NUMBER.fullmatch(name):
        return repr(float(name)) if name.lstrip("-").isdigit() else name
    if _EXTENT.fullmatch(name):
        return f"float({name})"
    at: str | None = name
    while at is not None and at in meaning.lines:
        number = re.search(rf"^ +(\w+) = tl\.extract_scalar\({at}_", there.body, re.MULTILINE)
        if number is not None:
            return number[1]
        left = [f"{one}_out" for one, value in meaning.results.items() if value == at]
        part = there.loaded.get(at)
        for buffer in (at, f"{at}_wide", *left, f"{at}_in", *([part] if part else [])):
            if buffer in there.rooms:
                return _read(buffer, there.rooms[buffer], shape, index)
        at = meaning.same(at) or (meaning.operands[at][0] if meaning.is_number(at) else None)
    return None


def _read(buffer: str, held: str, shape: str, index: str) -> str | None:
    if held == shape:
        return f"{buffer}{index}"
    spread = _SPREAD.get(held) if shape == "(tile, cols)" else None
    return f"{buffer}{spread}" if spread is not None else None
