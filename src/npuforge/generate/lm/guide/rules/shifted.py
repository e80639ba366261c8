# SPDX-License-Identifier: Apache-2.0
"""Bits that are moved up: a product with a power of two.

Narrow numbers are moved to the end of the wide ones that they are computed in, and back. Both
numbers follow from the line that was quoted, and neither stands in it, so they are given.
"""

from __future__ import annotations

import re

from npuforge.generate.lm.form.quoted import last_quoted
from npuforge.generate.lm.guide.facts.meaning import Meaning

_DONE = re.compile(r"^( +tl\.(mul|shift_right)\(.*, )(\d+)\)$")


def shifted(body: str, line: str, meaning: Meaning) -> str | None:
    """The last line of a kernel's body with the number it must have, where it has another."""
    found = _DONE.match(line)
    raised = meaning.raised(last_quoted(body))
    if found is None or raised is None:
        return None
    factor, spare = raised
    number = factor if found[2] == "mul" else spare
    return f"{found[1]}{number})" if number != int(found[3]) else None
