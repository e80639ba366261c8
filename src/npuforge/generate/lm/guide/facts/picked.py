# SPDX-License-Identifier: Apache-2.0
"""Values that are parts of a tensor's rows, and kernels in which nothing else is moved."""

from __future__ import annotations

from dataclasses import dataclass, replace

from npuforge.generate.lm.form.single import arguments
from npuforge.generate.lm.guide.facts.counted import extents_of
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, Purpose
from npuforge.generate.lm.guide.facts.worked_on import is_repeated


@dataclass(frozen=True, slots=True)
class Part:
    """Of a tensor's rows: the values that it is, and where it begins."""

    values: tuple[str, ...]
    tensor: str
    begins: str


def parts_of(purpose: Purpose, meaning: Meaning) -> list[Part]:
    """The parts of rows that a kernel reads, if all that it picks are such parts."""
    known = meaning.lines.keys() >= {*purpose.reads, *purpose.computes}
    if not known or not purpose.way.startswith(ROWS) or is_repeated(purpose, meaning):
        return []
    if meaning.reshapes:
        return []
    picked = [name for name in meaning.lines if name in purpose.computes and meaning.picks(name)]
    found = [_part(name, meaning) for name in picked]
    parts: dict[tuple[str, str], Part] = {}
    for one in found:
        if one is None:
            return []
        before = parts.get((one.tensor, one.begins))
        values = before.values + one.values if before is not None else one.values
        parts[one.tensor, one.begins] = replace(one, values=values)
    return list(parts.values())


def leaves_in_place(purpose: Purpose, meaning: Meaning) -> bool:
    """Whether elements stay where they are, with the axes they have, and are gone over once; parts
    of rows may be read."""
    if meaning.reshapes or is_repeated(purpose, meaning):
        return False
    return not meaning.moves or bool(parts_of(purpose, meaning))


def _part(value: str, meaning: Meaning) -> Part | None:
    """The part of a tensor's last axis that a value is."""
    operation, given = meaning.operations[value], meaning.given_to(value)
    if operation == "slice.Tensor" and len(given) == 4:
        source, axis, begins = given[:3]
    elif operation == "getitem" and meaning.operations.get(given[0]) == "split_with_sizes":
        source, sizes, *rest = meaning.given_to(given[0])
        axis = rest[0] if rest else "0"
        begins = " + ".join(arguments(sizes[1:-1])[: int(given[1])]) or "0"
    else:
        return None
    tensor: str | None = source
    while tensor is not None and meaning.operations.get(tensor):
        tensor = meaning.same(tensor)
    if tensor is None or tensor not in meaning.lines:
        return None
    last = len(extents_of(meaning.lines[tensor])) - 1
    return Part((value,), tensor, begins) if axis in {"-1", str(last)} else None
