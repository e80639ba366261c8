# SPDX-License-Identifier: Apache-2.0
"""What a value is computed of has the value's precision before there is a buffer for it.

A tensor of 16 bits is cast once, to a buffer with its name, where the first value of 32 bits reads
it. All 9,294 taught values do so that read such a tensor where no elements are moved; a model that
reads four of them forgets one, and has no name for it when it comes to the instruction. What is
true or not becomes one or nothing before it is counted with, and the other way round.
"""

from __future__ import annotations

import re

from npuforge.generate.lm.form.quoted import indentation, last_quoted
from npuforge.generate.lm.guide.facts.held import filled_part, mask_room, room
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import FOLDS, ROWS, STREAM, Purpose

_BUFFER = re.compile(r"^ +(\w+) = tl\.alloc_(?:ub\(.*dtype=tl\.float32|mask\(.*)\)$")
_SHORT = re.compile(r": b?float16\[")
_SELECTION = re.compile(r"^( +tl\.select\(\w+\[[^\]]*\], )(\w+)_in\[(.*)$")
_COUNTING = frozenset({"mul.Tensor", "add.Tensor", "sub.Tensor", "div.Tensor"})
_DECIDING = re.compile(r"^(?:bitwise|logical)_(?:and|or|not|xor)\b")


def cast_first(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """What must stand instead of the last line of a kernel's body, the buffer of a value: the casts
    that are missing, and then that line."""
    made = _BUFFER.match(last)
    if made is None or meaning.moves or not purpose.way.startswith((ROWS, STREAM, *FOLDS)):
        return None
    value = last_quoted(body)
    wanted = {value, *(f"{name}_out" for name, of in meaning.results.items() if of == value)}
    if made[1] not in wanted or not meaning.operations.get(value) or not meaning.computes(value):
        return None
    operands = dict.fromkeys(meaning.operands[value])
    if ".alloc_mask(" in last:
        decides = _DECIDING.match(meaning.operations[value]) is not None
        missing = [line for name in operands for line in (_mask(name, body) if decides else ())]
    else:
        tensors = dict.fromkeys(map(meaning.looked_at, operands))
        missing = [line for name in tensors for line in _cast(name, body, meaning)]
        if meaning.operations[value] in _COUNTING:
            buffers = [buffer for name in operands for buffer in (name, f"{name}_wide")]
            missing += [line for buffer in buffers for line in _number(buffer, body)]
    lines = [f"{indentation(last)}{line}" for line in missing]
    return "\n".join([*lines, last]) if lines else None


def by_mask(body: str, last: str) -> str | None:
    """A selection that goes by the bytes of a tensor, with the mask that was made of them."""
    found = _SELECTION.match(last)
    if found is None or f" {found[2]}_wide = tl.alloc_mask(" not in body:
        return None
    return f"{found[1]}{found[2]}_wide[{found[3]}"


def _number(name: str, body: str) -> list[str]:
    """The lines that make numbers of a mask, unless a kernel has them."""
    shape, part = mask_room(name, body), filled_part(name, body)
    if shape is None or part is None or f" {name}_ = " in body:
        return []
    return [
        f"{name}_ = tl.alloc_ub({shape}, dtype=tl.float32)",
        f"tl.select({name}_{part}, {name}{part}, 1.0, 0.0)",
    ]


def _mask(name: str, body: str) -> list[str]:
    """The lines that make a mask of numbers which say what is true, unless a kernel has them."""
    shape, part = room(name, body, "float32"), filled_part(name, body)
    if shape is None or part is None or f" {name}_ = " in body:
        return []
    return [
        f"{name}_ = tl.alloc_mask({shape})",
        f'tl.compare({name}_{part}, {name}{part}, 0.0, "ne")',
    ]


def _cast(name: str, body: str, meaning: Meaning) -> list[str]:
    """The lines that cast what was read of a tensor of 16 bits, unless a kernel has them."""
    if meaning.operations[name] or not _SHORT.search(meaning.lines[name]):
        return []
    shape, part = room(f"{name}_in", body), filled_part(f"{name}_in", body)
    if shape is None or part is None or f" {name}_wide = " in body:
        return []
    return [
        f"{name}_wide = tl.alloc_ub({shape}, dtype=tl.float32)",
        f"tl.cast({name}_wide{part}, {name}_in{part})",
    ]
