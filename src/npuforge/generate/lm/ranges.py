# SPDX-License-Identifier: Apache-2.0
"""A range along the rows of a kernel: those it has come to are counted from where it is."""

from __future__ import annotations

from npuforge.generate.lm.counted import product
from npuforge.generate.lm.held import free_name
from npuforge.generate.lm.meaning import Meaning
from npuforge.generate.lm.purpose import ROWS, Purpose
from npuforge.generate.lm.quoted import indentation

_RANGE = "arange.start_step"
_STEP = 2  # the place of a step among what a range is given


def counted(quote: str, value: str, body: str, purpose: Purpose, meaning: Meaning) -> str:
    """The lines after the quote of a range of numbers with a point, one for each row."""
    rows = product(purpose.parameters.get("rows", ""))
    if meaning.operations.get(value) != _RANGE or not purpose.way.startswith(ROWS) or not rows:
        return ""
    begins, *more = [one for one in meaning.given_to(value) if "=" not in one]
    known = meaning.dtype(value) == "float32" and meaning.elements(value) == rows
    if not known or not begins.isdigit() or len(more) >= _STEP:
        return ""
    if value in meaning.results.values():
        return ""
    room, part = free_name(body), "[:n]"
    first = value if begins == "0" else room
    lines = [
        f"{first} = tl.alloc_ub(tile, dtype=tl.float32)",
        f"tl.iota({first}{part}, float(start), 1.0)",
    ]
    if begins != "0":
        lines += [
            f"{value} = tl.alloc_ub(tile, dtype=tl.float32)",
            f"tl.add({value}{part}, {room}{part}, {float(begins)})",
        ]
    return "".join(f"{indentation(quote)}{line}\n" for line in lines)
