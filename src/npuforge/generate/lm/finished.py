# SPDX-License-Identifier: Apache-2.0
"""A value that was begun is finished before the next one is.

A model that has written the first of two instructions sees the quote of the next value coming, and
goes on to it; the buffer of the value is missing for the rest of the program. Of 21,674 values that
taught kernels of rows and streams quote in order to compute them all have a buffer before the next
quote.
"""

from __future__ import annotations

from npuforge.generate.lm.meaning import Meaning, known_operations
from npuforge.generate.lm.purpose import ROWS, STREAM, Purpose
from npuforge.generate.lm.quoted import about, is_quote

_COPYOUT, _COMPUTE = "with tl.copyout():", "with tl.compute():"


def unfinished(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """A value that was quoted before the last line of a kernel's body, and has no buffer."""
    if not (is_quote(last) or last.endswith(_COPYOUT)):
        return None
    if meaning.moves or not purpose.way.startswith((ROWS, STREAM)):
        return None
    lines = body.rstrip("\n").splitlines()[:-1]
    quotes = [place for place, line in enumerate(lines) if is_quote(line)]
    value = about(lines[quotes[-1]]) if quotes else ""
    if value == about(last) or value not in purpose.computes or not _needs_buffer(value, meaning):
        return None
    block = next(line for line in reversed(lines[: quotes[-1]]) if line.endswith(":"))
    results = [f"{name}_out" for name, left in meaning.results.items() if left == value]
    made = any(f" {one} = " in body for one in (value, f"{value}_", *results))
    if made or not block.endswith(_COMPUTE):  # what another kernel left is quoted where it is read
        return None
    return f"{value} is not finished"


def _needs_buffer(value: str, meaning: Meaning) -> bool:
    known = meaning.operations.get(value) in known_operations()
    return known and meaning.computes(value) and not meaning.is_idle(value)
