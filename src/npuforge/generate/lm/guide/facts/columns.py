# SPDX-License-Identifier: Apache-2.0
"""One column of a tensor: a stream reads it in steps as long as a row, and makes a line of it."""

from __future__ import annotations

from npuforge.generate.lm.guide.facts.counted import extents_of, product
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import STREAM, Purpose

_SELECT = "select.int"
ROOM = "(tile, 1)"


def column(name: str, purpose: Purpose, meaning: Meaning) -> tuple[str, str] | None:
    """The lines that read a tensor of which one value is a column, and nothing else is read."""
    readers = [one for one, read in meaning.operands.items() if name in read]
    extents = extents_of(meaning.lines[name])
    if len(readers) != 1 or len(extents) < 2 or not purpose.way.startswith(STREAM):
        return None
    axis, place, *more = [*meaning.given_to(readers[0])[1:], "", ""][:3]
    known = meaning.operations[readers[0]] == _SELECT and meaning.dtype(name) == "float32"
    whole = product(purpose.parameters.get("cols", "")) == product(" * ".join(extents[:-1]))
    if not known or more != [""] or not place.isdigit() or not whole:
        return None
    if axis not in {str(len(extents) - 1), "-1"}:
        return None
    offset, row = f"{place} + " if place != "0" else "", extents[-1]
    return (
        f"{{name}}_in = tl.alloc_ub({ROOM}, dtype=tl.{{dtype}})",
        f"tl.load({{name}} + {offset}start * {row}, {{name}}_in[:m, :], stride={row})",
    )


def taken(value: str, into: str, rooms: dict[str, str], meaning: Meaning) -> str | None:
    """The instruction that makes a column a line of elements."""
    if meaning.operations[value] != _SELECT or not meaning.operands[value]:
        return None
    read = f"{meaning.operands[value][0]}_in"
    if rooms.get(read) != ROOM:
        return None
    return f"tl.reduce_sum({into}[:m], {read}[:m, :], axis=1)"
