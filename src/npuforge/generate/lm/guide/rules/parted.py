# SPDX-License-Identifier: Apache-2.0
"""Parts of rows that a kernel reads: halves that are multiplied lie apart in memory.

Each part has a buffer of its own, in the order of the question, and where it begins is said in the
names of the kernel's parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

from npuforge.generate.lm.form.quoted import MARK, indentation
from npuforge.generate.lm.guide.facts.counted import extents_of, size_of
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.picked import Part, parts_of
from npuforge.generate.lm.guide.facts.purpose import Purpose
from npuforge.generate.lm.guide.rules.loads import form_of, reading
from npuforge.generate.lm.guide.rules.reads import is_shared

_COPYIN, _COMPUTE = "with tl.copyin():", "with tl.compute():"


def block(last: str, purpose: Purpose, meaning: Meaning) -> str:
    """The lines after the one with which a kernel begins to read parts of its rows, up to the first
    that computes; nothing where there is a choice."""
    if not last.endswith(_COPYIN) or last == f"    {_COPYIN}":
        return ""
    parts = parts_of(purpose, meaning)
    lines = list(_read(parts, purpose, meaning)) if parts else []
    if not lines or None in lines:
        return ""
    inner = "".join(f"{indentation(last)}    {line}\n" for line in lines)
    return f"{inner}{indentation(last)}{_COMPUTE}\n"


def pointers(purpose: Purpose, meaning: Meaning) -> dict[str, str]:
    """The values that parts of tensors are, by the pointers that they are read at."""
    single = (one for one in parts_of(purpose, meaning) if len(one.values) == 1)
    named = ((_place(one, purpose, meaning), one.values[0]) for one in single)
    return {place: value for place, value in named if place is not None}


def _read(parts: list[Part], purpose: Purpose, meaning: Meaning) -> Iterator[str | None]:
    width = "cols" if "cols" in purpose.parameters else None
    loads = 0
    for name in purpose.reads:
        own = [part for part in parts if part.tensor == name]
        if is_shared(name, purpose, meaning):
            loads += 1
            continue
        if not own:
            form = form_of(name, purpose, meaning)
            yield from [None] if form is None else reading(name, form, meaning)
            loads += 1
        for part in own:
            place = _place(part, purpose, meaning)
            wide = width or _name(extents_of(meaning.lines[part.values[0]])[-1], purpose)
            if place is None or wide is None:
                yield None
                continue
            if len(own) == 1:
                yield f"{MARK}{meaning.lines[name]}"
            buffer = f"{name}_in" if len(own) == 1 else f"in{loads}"
            pitch = place.rpartition(" * ")[2]
            yield f"{buffer} = tl.alloc_ub((tile, {wide}), dtype=tl.{meaning.dtype(name)})"
            yield f"tl.load({place}, {buffer}[:n, :], stride={pitch})"
            loads += 1


def unnamed(purpose: Purpose, meaning: Meaning) -> str | None:
    """A size that a kernel needs to read parts of its rows, and has no name for."""
    for part in parts_of(purpose, meaning):
        for size in (part.begins, extents_of(meaning.lines[part.tensor])[-1]):
            wanted = size_of(size)
            if wanted is not None and wanted.known is None and _name(size, purpose) is None:
                return str(wanted)
    return None


def _place(part: Part, purpose: Purpose, meaning: Meaning) -> str | None:
    """The pointer to a part of the rows that a kernel has come to; None where it has no name."""
    begins = _name(part.begins, purpose)
    pitch = _name(extents_of(meaning.lines[part.tensor])[-1], purpose)
    if begins is None or pitch is None:
        return None
    return " + ".join(one for one in (part.tensor, begins, f"start * {pitch}") if one != "0")


def _name(size: str, purpose: Purpose) -> str | None:
    """What a kernel calls a number of elements: a number, a symbol or the name of a parameter."""
    wanted = size_of(size)
    if wanted is None:
        return None
    if wanted.known is not None:
        return str(wanted.known) if wanted.known >= 0 else None
    named = [name for name, said in purpose.parameters.items() if size_of(said) == wanted]
    if "cols" in named or size.isidentifier():
        return "cols" if "cols" in named else size
    return named[0] if named else None
