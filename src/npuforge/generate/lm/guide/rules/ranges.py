# SPDX-License-Identifier: Apache-2.0
"""A range along the rows of a kernel, or one that is all that is asked for: what the kernel has
come to is counted from where it is."""

from __future__ import annotations

import re

from npuforge.generate.lm.form.quoted import indentation
from npuforge.generate.lm.guide.facts.counted import product
from npuforge.generate.lm.guide.facts.held import free_name
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, Purpose

_RANGE = "arange.start_step"
_HELD = {"int64": "int32", "int32": "int32", "float32": "float32"}  # what it is computed in
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
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


def alone(quote: str, value: str, meaning: Meaning) -> str:
    """The lines after the quote of a range that is all that a question asks for."""
    if meaning.only is None or meaning.only[1] != value or meaning.operations[value] != _RANGE:
        return ""
    result, _ = meaning.only
    begins, *more = [one for one in meaning.given_to(value) if "=" not in one]
    step = more[1] if len(more) >= _STEP else "1"
    dtype = _HELD.get(meaning.dtype(value), "")
    if not dtype or not (_NUMBER.fullmatch(begins) and _NUMBER.fullmatch(step)):
        return ""
    said = (lambda one: str(float(one))) if dtype == "float32" else str
    steps = [f"tl.iota({{}}[:m], {'float(start), 1.0' if dtype == 'float32' else 'start, 1'})"]
    steps += [f"tl.mul({{}}[:m], {{}}[:m], {said(step)})"] if float(step) != 1 else []
    steps += [f"tl.add({{}}[:m], {{}}[:m], {said(begins)})"] if float(begins) != 0 else []
    cast = dtype != meaning.dtype(value)
    names = [f"t{number}" for number in range(len(steps))]
    names[-1] = f"{result}_out" if not cast else value if len(steps) > 1 else names[-1]
    rooms = [dtype] * len(names)
    if cast:
        steps, names = [*steps, "tl.cast({}[:m], {}[:m])"], [*names, f"{result}_out"]
        rooms.append(meaning.dtype(value))
    lines: list[str] = []
    for number, (name, room, instruction) in enumerate(zip(names, rooms, steps, strict=True)):
        before = names[number - 1] if number else ""
        lines += [
            f"{name} = tl.alloc_ub(tile, dtype=tl.{room})",
            instruction.format(name, before),
        ]
    return "".join(f"{indentation(quote)}{line}\n" for line in lines)
