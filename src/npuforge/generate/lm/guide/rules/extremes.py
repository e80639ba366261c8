# SPDX-License-Identifier: Apache-2.0
"""What a search for the largest or the smallest begins with: less, or more, than anything.

Of 116 taught kernels that search for one of both all begin so.
"""

from __future__ import annotations

import re

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import Purpose

_FILL = re.compile(r"^( +tl\.fill\(\w+\[:\], )(-?)tl\.inf\)$")
_LARGEST = re.compile(r"^(?:amax|argmax|max|_softmax|_log_softmax|cummax)\b")
_SMALLEST = re.compile(r"^(?:amin|argmin|min)\b")


def beginning(last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """What must stand instead of a line that begins a search with the other infinity."""
    found = _FILL.match(last)
    if found is None:
        return None
    done = [meaning.operations.get(value, "") for value in purpose.computes]
    largest, smallest = (any(map(one.match, done)) for one in (_LARGEST, _SMALLEST))
    sign = "-" if largest else ""
    return f"{found[1]}{sign}tl.inf)" if largest != smallest and sign != found[2] else None
