# SPDX-License-Identifier: Apache-2.0
"""Masks: the comparison that makes one, and the choice between two values that is made by one.

What the question compares or chooses from leaves no choice once the buffers are there: the two
sides come in the question's order, each where it has all elements. Whole numbers that rows or
columns share were added to nothing before, which spreads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from npuforge.generate.lm.form.quoted import indentation, last_quoted
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, Purpose

_ROOM = re.compile(
    r"^ +(?P<name>\w+) = tl\.alloc_(?P<kind>ub|mask)\((?P<shape>\(.*?\)|\w+)"
    r"(?:, dtype=tl\.(?P<dtype>\w+))?",
    re.MULTILINE,
)
_SPREAD = re.compile(r"^ +tl\.add\((\w+)\[:n, :\], \w+\[:n, :\], (\w+)\[", re.MULTILINE)
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|inf)")
_COMPARES = frozenset({"le", "lt", "ge", "gt", "eq", "ne"})
_CHOOSES = "where"
_FILLED = frozenset({"scalar_tensor", "full", "full_like"})
_COMPUTED = frozenset({"float32", "int32"})


def masked(body: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """What must stand instead of the last line of a kernel's body, right after the mask of a
    comparison or the buffer of a choice."""
    lines = body.rstrip("\n").splitlines()
    made = _ROOM.match(lines[-2]) if len(lines) > 1 else None
    value = last_quoted(body)
    part = _part(made["shape"], purpose) if made is not None else None
    if made is None or part is None or value not in meaning.lines:
        return None
    there = _There("\n".join(lines[:-2]), made["shape"], part, meaning)
    word, given = meaning.operations.get(value, "").partition(".")[0], meaning.given_to(value)
    results = {f"{name}_out" for name, of in meaning.results.items() if of == value}
    if made["kind"] == "mask" and word in _COMPARES and len(given) == 2:
        read = there.sides(given)
        done = f'tl.compare({made["name"]}{part}, {read}, "{word}")' if read else ""
    elif made["dtype"] == "float32" and word == _CHOOSES and made["name"] in {value, *results}:
        mask, read = there.mask(), there.sides(given[1:])
        done = f"tl.select({made['name']}{part}, {mask}, {read})" if mask and read else ""
    else:
        return None
    return f"{indentation(lines[-2])}{done}" if done else None


def _part(shape: str, purpose: Purpose) -> str | None:
    """How all that there is in a buffer is read."""
    by_rows = purpose.way.startswith(ROWS) or "rows" in purpose.parameters
    known = {"(tile, cols)": "[:n, :]", "tile": "[:n]"} if by_rows else {"tile": "[:m]"}
    return known.get(shape)


class _There(NamedTuple):
    """What a kernel has before the line, and the shape that it computes in."""

    body: str
    shape: str
    part: str  # how all that there is in a buffer is read
    meaning: Meaning

    def rooms(self, kind: str) -> dict[str, str]:
        """Buffers of the shape, and their types."""
        found = (one for one in _ROOM.finditer(self.body) if one["shape"] == self.shape)
        return {one["name"]: one["dtype"] or "" for one in found if one["kind"] == kind}

    def mask(self) -> str | None:
        """The one that was made last."""
        return next((f"{name}{self.part}" for name in reversed(self.rooms("mask"))), None)

    def sides(self, given: Sequence[str]) -> str | None:
        """Both operands as an instruction reads them: no more than one is a number."""
        rooms = self.rooms("ub")
        sides = [self._side(one, rooms) for one in given]
        buffers = [one for one in sides if one in rooms]
        if not buffers or len(sides) != 2 or None in sides:
            return None
        real = rooms[buffers[0]] == "float32"
        read = (f"{s}{self.part}" if s in rooms else _literal(s, real) for s in sides if s)
        return ", ".join(read)

    def _side(self, name: str, rooms: Mapping[str, str]) -> str | None:
        """The buffer with all elements of a value, or the number that it is."""
        spread = {one[2]: one[1] for one in _SPREAD.finditer(self.body)}
        results = self.meaning.results
        for one in _looks(name, self.meaning):
            if _NUMBER.fullmatch(one):
                return one
            left = [f"{result}_out" for result, value in results.items() if value == one]
            for buffer in (f"{one}_wide", one, *left, f"{one}_in"):
                if buffer in spread:
                    return spread[buffer]
                if rooms.get(buffer) in _COMPUTED:
                    return buffer
        return None


def _literal(number: str, real: bool) -> str:
    text = repr(float(number)) if real else number
    return text.replace("inf", "tl.inf")


def _looks(name: str, meaning: Meaning) -> Iterator[str]:
    """A value and those that it is another look at; at last the number that fills it."""
    at: str | None = name
    while at is not None:
        yield at
        if meaning.operations.get(at, "").partition(".")[0] in _FILLED:
            yield from (one for one in meaning.given_to(at) if _NUMBER.fullmatch(one))
        at = meaning.same(at) if at in meaning.lines else None
