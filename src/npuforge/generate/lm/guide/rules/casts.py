# SPDX-License-Identifier: Apache-2.0
"""A cast from a type to itself rounds to whole numbers, or does nothing.

The language has it, for operations that round. No taught program does: of 16,812 casts all change
the type. A model that has come to the right buffer one line too early writes it.
"""

from __future__ import annotations

import re

from npuforge.generate.lm.form.single import arguments
from npuforge.generate.lm.guide.facts.meaning import Meaning

_CAST = re.compile(r"^ +tl\.cast\((.*)\)$")
_ROOM = re.compile(r"^( +)(\w+) = tl\.alloc_ub\(")
_ALLOCATED = re.compile(r"^ +(\w+) = tl\.alloc_ub\(.*dtype=tl\.(\w+)", re.MULTILINE)


def wide_already(line: str, meaning: Meaning) -> str | None:
    """A buffer to cast a tensor to that has its type."""
    made = _ALLOCATED.match(line)
    name = made[1].removesuffix("_wide") if made is not None else ""
    if (
        made is None
        or name == made[1]
        or not meaning.lines.get(name, "").startswith(f"{name}: {made[2]}[")
    ):
        return None
    return f"{name} is {made[2]} as it is"


def idle(line: str, kernel: str) -> str | None:
    """What is wrong with a cast in a kernel that ends with it."""
    call = _CAST.match(line)
    if call is None:
        return None
    types = dict(_ALLOCATED.findall(kernel))
    known = [types.get(one.partition("[")[0]) for one in arguments(call[1])[:2]]
    if known[0] is None or known.count(known[0]) < 2:
        return None
    return f"a cast of {known[0]} to itself"


DETOUR = 4  # lines: a buffer and a cast to it, another buffer and a cast to that


def straight(kernel: str) -> str | None:
    """The last lines of a kernel, a cast and then one that is idle, without the detour."""
    lines = kernel.rstrip("\n").splitlines()[-DETOUR:]
    if len(lines) < DETOUR:
        return None
    (wide, cast, room, again) = lines
    first, second = _ROOM.match(wide), _ROOM.match(room)
    calls = _CAST.match(cast), _CAST.match(again)
    if first is None or second is None or calls[0] is None or calls[1] is None:
        return None
    names = [[one.partition("[")[0] for one in arguments(call[1])[:2]] for call in calls if call]
    if names[0][0] != first[2] or names[1] != [second[2], first[2]]:
        return None
    return f"{room}\n{cast.replace(f'({first[2]}[', f'({second[2]}[', 1)}\n"
