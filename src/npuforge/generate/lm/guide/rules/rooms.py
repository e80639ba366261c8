# SPDX-License-Identifier: Apache-2.0
"""Where several cores fold one result, each leaves its own in a room that has a part for each.

How far the parts lie from one another follows from the room's shape, and has a name among what the
kernel counts in: it does in all 1,119 rooms of taught kernels.
"""

from __future__ import annotations

import re

from npuforge.generate.lm.guide.facts.counted import size_of
from npuforge.generate.lm.guide.facts.purpose import Purpose
from npuforge.spec.size import Size

_FOLDED = "Too few results"
_STORE = re.compile(r"^ +tl\.store\((w\d+)\b([^,]*),")
_PART = re.compile(r"\bpart\b(?: \* (\w+))?")


def uncounted_part(purpose: Purpose) -> str | None:
    """The size of a part of a room that a kernel leaves and has no name for."""
    for extents in _rooms(purpose):
        size = _part(extents)
        named = [size_of(said) for said in purpose.parameters.values()]
        plain = size is not None and (size.known is not None or str(size).isidentifier())
        if size is not None and not plain and size not in named:
            return str(size)
    return None


def misplaced(last: str, purpose: Purpose) -> str | None:
    """What is wrong with the last line of a kernel's body, where it stores a part of a room."""
    store = _STORE.match(last)
    extents = purpose.rooms.get(store[1]) if store is not None else None
    if store is None or extents is None or not purpose.way.startswith(_FOLDED):
        return None
    apart = _PART.search(store[2])
    wanted, said = _part(extents), (apart[1] or "1") if apart is not None else None
    if wanted is None:
        return None
    if said is None:
        return f"each core has a part of {store[1]}"
    found = size_of(purpose.parameters.get(said, said))
    return None if found == wanted else f"parts of {store[1]} are {wanted} apart"


def _rooms(purpose: Purpose) -> list[list[str]]:
    return list(purpose.rooms.values()) if purpose.way.startswith(_FOLDED) else []


def _part(extents: list[str]) -> Size | None:
    return size_of(" * ".join(f"({one})" for one in extents[1:]) or "1")
