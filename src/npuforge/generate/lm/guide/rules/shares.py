# SPDX-License-Identifier: Apache-2.0
"""How a host function shares rows among cores follows from what the kernel counts in.

A tile has some of the rows, and the tiles of all rows, of each outer index where there is one, are
what cores take.
"""

from __future__ import annotations

import re

from npuforge.generate.lm.guide.facts.counted import size_of, spelled
from npuforge.generate.lm.guide.facts.given_kernels import gone_over
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.outer import outer_of
from npuforge.generate.lm.guide.facts.picked import leaves_in_place
from npuforge.generate.lm.guide.facts.purpose import ROWS, Purpose
from npuforge.spec.size import Size

_ONE = Size.of(1)
# What is counted of rows, elements of a stream, and outer indices: (all, one of the two, outer).
_LINES = {
    "share": re.compile(r"^( +k\d+_share = tl\.cdiv\()(.*)(, 2 \* tl\.num_cores\(\)\))$"),
    "tile": re.compile(r"^( +k\d+_tile = max\(1, min\(k\d+_fit, k\d+_share, )(.*)(\)\))$"),
    "tiles": re.compile(r"^( +k\d+_(?:tiles|units) = tl\.cdiv\()(.*)(, k\d+_tile\))$"),
    "units": re.compile(r"^( +k\d+_units = k\d+_tiles \* )(.*)()$"),
}


def shared_out(last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """What must stand instead of a line that counts the work of a kernel, where it counts another
    number."""
    found = next(((kind, one) for kind, line in _LINES.items() if (one := line.match(last))), None)
    counted = _counted(purpose, meaning) if found is not None else None
    if found is None or counted is None:
        return None
    kind, parts = found
    own, outer = counted
    wanted = {"share": own * outer, "tile": own, "tiles": own, "units": outer}[kind]
    if size_of(parts[2]) == wanted:
        return None
    return f"{parts[1]}{spelled(wanted)}{parts[3]}"


def _counted(purpose: Purpose, meaning: Meaning) -> tuple[Size, Size] | None:
    """The rows of a kernel, or the elements of a stream that goes over them again and again, and
    how often it does."""
    given = gone_over(purpose, meaning)
    if given is not None:
        return given
    if not meaning.lines.keys() >= {*purpose.reads, *purpose.computes} or not purpose.leaves:
        return None
    axis = "rows" if purpose.way.startswith(ROWS) else "cols"
    own = size_of(purpose.parameters.get(axis, ""))
    outer = outer_of(purpose, meaning)
    if own is None:
        return None
    if outer is not None:
        return own, Size.parse(outer)
    return (own, _ONE) if axis == "rows" and leaves_in_place(purpose, meaning) else None
