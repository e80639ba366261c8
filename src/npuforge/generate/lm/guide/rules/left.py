# SPDX-License-Identifier: Apache-2.0
"""What a kernel leaves has a buffer of its own, whoever reads it besides.

A value of 32 bits that is asked for is computed there (763 of 766 taught ones that another value
reads too, or that come before others); one of 16 bits is rounded there before anything is stored. A
model that goes on with the value forgets the one or the other, and has nothing to store at the end.
"""

from __future__ import annotations

import re

from npuforge.generate.lm.form.quoted import about, indentation, is_quote, last_quoted
from npuforge.generate.lm.guide.facts.held import filled_part, room
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, STREAM, Purpose

_BUFFER = re.compile(r"^( +)(v\d+) = (tl\.alloc_ub\(.*\))$")
_ROUNDED = re.compile(r"^ +(\w+_out) = tl\.alloc_ub\(.*dtype=tl\.b?float16\)$")
_COPYOUT = "with tl.copyout():"


def too_early(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """A buffer that a value of 16 bits is rounded to, before anything was done for the value. Where
    no elements are moved all 20 taught ones have values that need nothing."""
    made = _ROUNDED.match(last)
    if made is None or meaning.moves or not purpose.way.startswith((ROWS, STREAM)):
        return None
    before = body.rstrip("\n").splitlines()[-2:-1]
    value = about(before[0]) if before and is_quote(before[0]) else ""
    if not meaning.operations.get(value) or meaning.is_idle(value) or not meaning.computes(value):
        return None
    return f"{value} comes before {made[1]}"


def left_first(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """What must stand instead of the last line of a kernel's body: the buffer of a result for that
    of its value, or the results that are missing where a block begins that stores them."""
    moves = meaning.moves and not meaning.gathers
    if moves or not purpose.way.startswith((ROWS, STREAM)):
        return None
    if last.endswith(_COPYOUT):
        return _rounded(body, last, purpose, meaning)
    made = _BUFFER.match(last)
    value = last_quoted(body)
    if made is None or made[2] != value or value not in meaning.lines:
        return None
    if not made[3].endswith(f"{meaning.dtype(value)})") or not meaning.tensors_of(value):
        return None  # of nothing but numbers there is one, which the result repeats
    names = [name for name in purpose.leaves if meaning.results.get(name) == value]
    if not names or f" {names[0]}_out = " in body:
        return None
    return f"{made[1]}{names[0]}_out = {made[3]}"


def _rounded(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    lines = [
        f"{indentation(last)}    {line}"
        for name in purpose.leaves
        if f" {name}_out" not in body
        for line in _rounding(name, meaning.results.get(name, ""), body, meaning)
    ]
    return "\n".join([*lines, last]) if lines else None


def _rounding(name: str, value: str, body: str, meaning: Meaning) -> list[str]:
    """The lines that round a value to a result of 16 bits, if it is there."""
    shape, part = room(value, body, "float32"), filled_part(value, body)
    if value not in meaning.lines or shape is None or part is None:
        return []
    kind = meaning.dtype(value)
    if not kind.endswith("float16"):
        return []
    return [
        f"{name}_out = tl.alloc_ub({shape}, dtype=tl.{kind})",
        f'tl.cast({name}_out{part}, {value}{part}, round="rint")',
    ]
