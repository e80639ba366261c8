# SPDX-License-Identifier: Apache-2.0
"""Buffers allocated where they are first used, which the language wants at the kernel's head.

Who writes a kernel from its first line to its last does not know at the head what the body will
need. A model's program says of every buffer what it is right before it writes to it; before the
program is compiled the allocations go up to the head.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from npuforge.generate.lm.form.quoted import ALLOCATION, indentation, is_quote
from npuforge.tile.parse import KERNEL_DECORATOR

_KERNEL = f"@{KERNEL_DECORATOR}"
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Moved:
    """A program whose lines changed places."""

    text: str
    places: tuple[int, ...]  # where each line was, counted from one

    def before(self, line: int) -> int:
        """The number that a line of the text had before."""
        return self.places[line - 1] if 0 < line <= len(self.places) else line


def inlined(program: str) -> str:
    """Allocations right before the first line that has the buffer's name."""
    lines = program.splitlines()
    made: list[str] = []
    waiting: dict[str, str] = {}
    for line in lines:
        if (found := ALLOCATION.match(line)) is not None:
            waiting[found[1]] = line.strip()
            continue
        if line == _KERNEL:
            waiting = {}
        used = [name for name in dict.fromkeys(re.findall(r"\w+", line)) if name in waiting]
        made += [*(indentation(line) + waiting.pop(name) for name in used), line]
    return "\n".join(made) + "\n"


def hoisted(program: str) -> Moved:
    """Allocations at the head of their kernels, in their order; without quotes."""
    made: list[tuple[int, str]] = []
    head: int | None = None  # where the kernel's next allocation goes
    awaited = False  # a kernel's decorator was read, its first line was not
    for number, line in enumerate(program.splitlines(), 1):
        if is_quote(line):
            continue
        if line == _KERNEL:
            awaited, head = True, None
        elif line and line[0] not in " )" and not awaited:
            head = None  # another function
        if awaited and line.endswith("):"):
            made.append((number, line))
            awaited, head = False, len(made)
        elif head is not None and ALLOCATION.match(line):
            made.insert(head, (number, _INDENT + line.strip()))
            head += 1
        else:
            made.append((number, line))
    return Moved("\n".join(line for _, line in made) + "\n", tuple(number for number, _ in made))
