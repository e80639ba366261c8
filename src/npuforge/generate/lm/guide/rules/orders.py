# SPDX-License-Identifier: Apache-2.0
"""The kernel that puts rows in order, as outlines say it.

Whole numbers of 32 bits and more have one of their own, which is told how many of each row are
kept, even if that is all of them. Its other half, that of narrower and of broken numbers, is not.
"""

from __future__ import annotations

import re

from npuforge.generate.lm.form.single import arguments
from npuforge.generate.lm.guide.facts.meaning import SHARED, Meaning

_ABOUT = re.compile(r"^(\w+): (.*)$")
_EXTENT, _VALUES, _KEPT = "extent = ", "values = ", "kept = "
_PARTS = (_EXTENT, "x = ", _VALUES, "places = ")  # of which no other kernel has all
_ROOM = re.compile(r": (\w+)\[")
_WIDE = frozenset({"int32", "int64"})


def kept(last: str, meaning: Meaning) -> str | None:
    """The last line of an outline with the number that it keeps, where it lacks one."""
    about = _ABOUT.match(last)
    if about is None or not about[1].endswith(SHARED):
        return None
    said = arguments(about[2])
    named = {part: one for part in _PARTS for one in said if one.startswith(part)}
    if len(named) < len(_PARTS) or any(one.startswith(_KEPT) for one in said):
        return None
    values = named[_VALUES]
    room = _ROOM.search(values)
    result = meaning.results.get(values.removeprefix(_VALUES), "")
    dtype = room[1] if room is not None else meaning.dtype(result) if result else ""
    if dtype not in _WIDE:
        return None
    place = said.index(values) + (room is not None)
    said.insert(place, f"{_KEPT}{named[_EXTENT].removeprefix(_EXTENT)}")
    return f"{about[1]}: {', '.join(said)}"
