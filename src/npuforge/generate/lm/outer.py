# SPDX-License-Identifier: Apache-2.0
"""The extent that a kernel of whole rows goes over besides its rows.

`i0` counts it in the language. Where tensors of a kernel have all of outer, rows and columns, or
some of them, what has no outer extent is read again for each.
"""

from __future__ import annotations

from collections import Counter

from npuforge.generate.lm.counted import extents_of, product
from npuforge.generate.lm.meaning import Meaning
from npuforge.generate.lm.purpose import ROWS, STREAM, Purpose
from npuforge.generate.lm.worked_on import is_repeated


def outer_of(purpose: Purpose, meaning: Meaning) -> str | None:
    """The one extent besides rows and columns, where elements stay where they are and it comes
    before these wherever it is."""
    rows = product(purpose.parameters.get("rows", ""))
    cols = product(purpose.parameters.get("cols", ""))
    names = [*purpose.reads, *purpose.computes]
    known = purpose.way.startswith(ROWS) and meaning.lines.keys() >= set(names)
    if not known or not rows or not cols or rows == cols or meaning.moves or meaning.reshapes:
        return None
    if not is_repeated(purpose, meaning):
        return None
    found = [elements for name in names if (elements := meaning.elements(name))]
    most = max(found, key=Counter.total)
    rest = list((most - rows - cols).elements())
    if len(rest) != 1 or most != rows + cols + Counter(rest):
        return None
    axes = [[one for one in extents_of(meaning.lines[name]) if one != "1"] for name in names]
    first = all(rest[0] not in one[1:] for one in axes)
    return rest[0] if first else None


def part_of(name: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """What a tensor or value has of the outer extent, the rows and the columns (`o`, `r`, `c`), in
    a kernel that goes over all of them."""
    outer = outer_of(purpose, meaning)
    elements = meaning.elements(name)
    if outer is None or elements is None:
        return None
    rows, cols = (product(purpose.parameters[axis]) or Counter() for axis in ("rows", "cols"))
    sizes = {"o": Counter([outer]), "r": rows, "c": cols}
    for kind in ("orc", "or", "oc", "o", "rc", "r", "c", ""):
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
    if outer_of(purpose, meaning) is None or each_of(purpose) is not None:
        return None
    return f"{purpose.parameters['rows']} * {purpose.parameters['cols']}"


def streamed_again(purpose: Purpose, meaning: Meaning) -> str | None:
    """The extent that a stream goes over besides its elements, where each tensor has both, or one
    of them."""
    cols = product(purpose.parameters.get("cols", ""))
    names = [*purpose.reads, *purpose.computes]
    known = purpose.way.startswith(STREAM) and meaning.lines.keys() >= set(names)
    if not known or not cols or meaning.moves or meaning.reshapes:
        return None
    if not is_repeated(purpose, meaning):
        return None
    found = [meaning.elements(name) for name in names]
    most = max((one for one in found if one), key=Counter.total)
    rest = most - cols
    if rest.total() != 1 or any(one not in (most, cols, rest) for one in found):
        return None
    axes = [[one for one in extents_of(meaning.lines[name]) if one != "1"] for name in names]
    (outer,) = rest
    return outer if all(outer not in one[1:] for one in axes) else None
