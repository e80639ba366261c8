# SPDX-License-Identifier: Apache-2.0
"""Where a block that reads is over: a tensor is read once in it, and nothing is computed.

Of 19,097 quotes in such blocks of taught kernels none is of what the block has read already, and
none of a value, but for what another kernel left.
"""

from __future__ import annotations

from npuforge.generate.lm.meaning import Meaning
from npuforge.generate.lm.purpose import Purpose
from npuforge.generate.lm.quoted import about, indentation, is_quote

_COPYIN, _COMPUTE = "with tl.copyin():", "with tl.compute():"


def read_enough(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """What must stand instead of a quote, the last line of a kernel's body, where the block that it
    is in is over."""
    block = body.rpartition(_COPYIN)[2].rstrip("\n").splitlines()[1:-1]
    inside = _COPYIN in body and not any(line.lstrip().startswith("with ") for line in block)
    if not is_quote(last) or not inside or not any("tl.load(" in line for line in block):
        return None
    begin = f"{indentation(last)[:-4]}{_COMPUTE}"
    name = about(last)
    rooms = any(read not in meaning.lines for read in purpose.reads)
    if meaning.operations.get(name) and not rooms:
        return f"{begin}\n{last}"
    return begin if any(is_quote(line) and about(line) == name for line in block) else None
