# SPDX-License-Identifier: Apache-2.0
"""The extent that a kernel goes over besides its rows, or the elements of a stream.

`i0` counts it in the language. Where tensors of a kernel have all of outer, rows and columns, or
some of them, what has no outer extent is read again for each.
"""

from __future__ import annotations

from collections import Counter

from npuforge.generate.lm.guide.facts.counted import extents_of, product
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, STREAM, Purpose
from npuforge.generate.lm.guide.facts.worked_on import is_repeated


def outer_of(purpose: Purpose, meaning: Meaning) -> str | None:
    """The one extent besides rows and columns, or besides the elements of a stream, where elements
    stay where they are and it comes before these wherever it is."""
    rows = product(purpose.parameters.get("rows", ""))
    cols = product(purpose.parameters.get("cols", ""))
    names = [*purpose.reads, *purpose.computes]
    streams = purpose.way.startswith(STREAM) and rows is None
    known = meaning.lines.keys() >= set(names) and cols and not meaning.moves
    counted = streams or (purpose.way.startswith(ROWS) and rows and rows != cols)
    if not known or not counted or meaning.reshapes or not is_repeated(purpose, meaning):
        return None
    own = (rows or Counter()) + (cols or Counter())
    found = [meaning.elements(name) for name in names]
    most = max((elements for elements in found if elements), key=Counter.total)
    rest = most - own
    if rest.total() != 1 or most != own + rest:
        return None
    if streams and any(one not in (most, own, rest) for one in found):
        return None  # what all elements share is read before them
    (outer,) = rest
    axes = [[one for one in extents_of(meaning.lines[name]) if one != "1"] for name in names]
    return outer if all(outer not in one[1:] for one in axes) else None


def part_of(name: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """What a tensor or value has of the outer extent, the rows and the columns (`o`, `r`, `c`), in
    a kernel that goes over all of them."""
    outer = outer_of(purpose, meaning)
    elements = meaning.elements(name)
    if outer is None or elements is None:
        return None
    counts = (product(purpose.parameters.get(axis, "")) for axis in ("rows", "cols"))
    rows, cols = (count or Counter() for count in counts)
    sizes = {"o": Counter([outer]), "r": rows, "c": cols}
    kinds = ("orc", "or", "oc", "o", "rc", "r", "c", "") if rows else ("oc", "o", "c")
    for kind in kinds:
        if elements == sum((sizes[one] for one in kind), Counter()):
            return kind
    return None


def each_of(purpose: Purpose) -> str | None:
    """What a kernel calls the elements that it has of each outer index."""
    parameters = purpose.parameters
    rows, cols = (product(parameters.get(axis, "")) for axis in ("rows", "cols"))
    named = (
        name for name, said in parameters.items() if rows and cols and product(said) == rows + cols
    )
    return next(named, None)


def unnamed_each(purpose: Purpose, meaning: Meaning) -> str | None:
    """The elements that a kernel has of each outer index, where it has no name for them."""
    rows = purpose.way.startswith(ROWS)
    if not rows or outer_of(purpose, meaning) is None or each_of(purpose) is not None:
        return None
    return f"{purpose.parameters['rows']} * {purpose.parameters['cols']}"
