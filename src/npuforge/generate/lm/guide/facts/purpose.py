# SPDX-License-Identifier: Apache-2.0
"""What one kernel is for, as the lines of an outline say it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from npuforge.generate.lm.form.single import arguments

_PARAMETER = re.compile(r"^(\w+) = (.+?)(: \w+\[.*\])?$")
_LEFT = re.compile(r"^(\w+)(?: = (\w+))?(?:: \w+\[(.*)\])?$")
_ROOM = re.compile(r"^w\d+(?: = \w+)?: \w+\[.*\]$")
# How the ways begin that are looked into.
ROWS, STREAM, COLUMNS = "Whole rows", "A stream", "All rows of a few columns"
FOLDS = ("Each core folds its own", "Too few results")


@dataclass(slots=True)
class Purpose:
    """Of a kernel."""

    way: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)
    computes: list[str] = field(default_factory=list)
    leaves: dict[str, str | None] = field(default_factory=dict)  # values where they are named
    rooms: dict[str, list[str]] = field(default_factory=dict)  # extents of what is left for others
    given: set[str] = field(default_factory=set)  # rooms that are a parameter, and left here

    def tensor(self, name: str) -> str:
        """What a tensor of the kernel is called outside."""
        return self.parameters.get(name, name)


def note(purpose: Purpose, said: str) -> None:
    """A line about a kernel; one that is of rooms alone leaves what is made of nothing."""
    alone = all(_ROOM.match(one) for one in arguments(said))
    if " -> " in said or alone:
        parts = said.split(" -> ")
        left = [_LEFT.match(one) for one in arguments(parts[-1])]
        purpose.leaves = {one[1]: one[2] for one in left if one is not None}
        purpose.rooms = {one[1]: one[3].split(", ") for one in left if one is not None and one[3]}
        purpose.computes = arguments(parts[-2]) if len(parts) > 2 else []
        purpose.reads = [] if alone else arguments(parts[0])
        if len(parts) == 2 and all(re.fullmatch(r"v\d+", one) for one in purpose.reads):
            purpose.reads, purpose.computes = [], purpose.reads
        return
    parameters = [_PARAMETER.match(one) for one in arguments(said)]
    if all(parameters):
        purpose.parameters |= {one[1]: one[2] for one in parameters if one is not None}
        purpose.given |= {one[2] for one in parameters if one is not None and one[3]}
    else:
        purpose.way = said
