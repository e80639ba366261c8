# SPDX-License-Identifier: Apache-2.0
"""How many elements a kernel works on, and whether its values and tensors can have as many.

Elements are counted in symbols. A kernel of whole rows works on rows, columns, both or single
elements; a stream on elements. What has more is gone over part by part, and a part is what lies
together in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from npuforge.generate.lm.guide.facts.counted import (
    Count,
    elements_of,
    extents_of,
    in_primes,
    product,
)
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, STREAM, Purpose


def uncounted(purpose: Purpose, meaning: Meaning) -> str | None:
    """A value or tensor of another number of elements than the kernel works on."""
    counts = _counts(purpose)
    if counts is None:
        return None
    computed = [value for value in purpose.computes if meaning.computes(value)]
    read = [] if meaning.moves else [name for name in purpose.reads if name in meaning.lines]
    if is_repeated(purpose, meaning):
        ends = purpose.way.startswith(STREAM)
        return None if meaning.moves else _scattered(computed, counts[-1], meaning, ends=ends)
    known = [in_primes(one) for one in counts]
    for name in (*computed, *read):
        found = meaning.elements(name)
        if found is not None and in_primes(found) not in known:
            return f"{name} has other elements than {purpose.way}"
    return None


def is_repeated(purpose: Purpose, meaning: Meaning) -> bool:
    """Whether a kernel goes over its rows many times."""
    counts = _counts(purpose)
    if counts is None:
        return False
    found = (elements_of(meaning.lines[value]) for value in purpose.computes)
    return any(one is not None and one > counts[-1] for one in found)


def _scattered(values: list[str], part: Count, meaning: Meaning, *, ends: bool) -> str | None:
    """A value whose parts do not lie together; those of a stream are its last axes."""
    for value in values:
        found, extents = elements_of(meaning.lines[value]), extents_of(meaning.lines[value])
        if found is not None and found > part and part not in _runs(extents, ends=ends):
            return f"parts of {value} do not lie together"
    return None


def _runs(extents: list[str], *, ends: bool) -> Iterator[Count]:
    """Elements of axes that are beside each other, with the last of them where `ends`."""
    axes = [one for one in extents if one != "1"]
    for first in range(len(axes)):
        for last in range(len(axes) - 1 if ends else first, len(axes)):
            yield Counter(axes[first : last + 1])


def _counts(purpose: Purpose) -> list[Count] | None:
    """How many elements values may have, the most at the end; nothing where it is not known."""
    rows = product(purpose.parameters.get("rows", ""))
    cols = product(purpose.parameters.get("cols", ""))
    if purpose.way.startswith(ROWS) and rows is not None and cols is not None:
        return [Counter(), rows, cols, rows + cols]
    if purpose.way.startswith(STREAM) and cols is not None and rows is None:
        return [Counter(), cols]
    return None
