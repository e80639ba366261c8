# SPDX-License-Identifier: Apache-2.0
"""Whether a buffer has the shape that what it holds must have in a kernel.

The axes of a buffer are named: `cols` is a whole row of the kernel, `rows` all of its rows, `tile`
some of either. Where elements stay where they are, a value has all the axes of its buffer and no
other; of 506,958 buffers of taught programs 422 are refused.
"""

from __future__ import annotations

import re
from collections import Counter

from npuforge.generate.lm.form.quoted import buffer_of
from npuforge.generate.lm.guide.facts.counted import Count, product
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import COLUMNS, ROWS, STREAM, Purpose
from npuforge.generate.lm.guide.facts.worked_on import is_repeated

_ALLOCATED = re.compile(r"^ +(\w+) = tl\.alloc_(?:ub|mask)\((\(.*?\)|\w+)", re.MULTILINE)
_SHAPES = {
    ROWS: re.compile(r"\(tile, \w+\)|tile|cols|\d+|[ne]\w{1,2}"),
    # Elements in steps are read in rows of one.
    STREAM: re.compile(r"\(tile, 1\)|tile|\d+|[ne]\w{1,2}"),
}
_NAMED = re.compile(r"\w+")
_PART = re.compile(r"\b(\w+)\[:(\w+)(?=[\],])")
_ROW, _SOME_ROWS = "cols", "n"
_ALL = re.compile(r", (\w+)\[:\]")
_FEW = 32  # elements that a buffer has which is there for one


def misshapen(line: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """A buffer of a shape that no kernel has which goes about it in this way, or that does not suit
    its value."""
    allocated = _ALLOCATED.match(line)
    if allocated is None:
        return None
    buffer, shape = allocated.groups()
    for way, shapes in _SHAPES.items():
        if purpose.way.startswith(way) and not shapes.fullmatch(shape):
            return f"{buffer} is no buffer of {way.lower()}"
    name, use = buffer_of(buffer, meaning.results) or ("", "")
    elements = meaning.elements(name)
    if elements is None or use == "fold" or is_repeated(purpose, meaning):
        return None
    if meaning.operations[name] and not meaning.tensors_of(name):
        return None  # made of nothing but numbers, which may be one for all elements
    suits = _suits_rows if meaning.moves else _suits
    return (
        None if suits(shape, elements, purpose) else f"{name} does not fit {allocated[0].strip()}"
    )


def overrun(line: str, kernel: str) -> str | None:
    """More of a buffer than one number, where it is there for one: what its block has behind it
    nobody wrote. Or as many elements of a row as there are rows."""
    sizes = dict(_ALLOCATED.findall(kernel))
    for buffer, extent in _PART.findall(line):
        size = sizes.get(buffer, "")
        if size.isdigit() and int(size) <= _FEW and not extent.isdigit():
            return f"{buffer} has no {extent} elements"
        if size == _ROW and extent == _SOME_ROWS:
            return f"{buffer} is a row, and not an element of each"
    for buffer in _ALL.findall(line):
        size = sizes.get(buffer, "")
        if size.isdigit() and int(size) <= _FEW and re.search(rf"\({buffer}\[:1\],", kernel):
            return f"{buffer} has one element"
    return None


def _suits_rows(shape: str, elements: Count, purpose: Purpose) -> bool:
    """What is left of it where elements are moved, and columns are not what they were: whether a
    value of a kernel of whole rows has an element for each row, where its buffer has, and more
    where that has more."""
    rows = product(purpose.parameters.get("rows", ""))
    if rows is None or not purpose.way.startswith(ROWS):
        return True
    if shape == "tile":  # of a part, where the kernel goes over several
        cols = product(purpose.parameters.get("cols", ""))
        return elements >= rows and not (cols and elements >= rows + cols)
    if shape.startswith("(tile, "):
        return elements > rows
    return not rows or not elements >= rows


def _suits(shape: str, elements: Count, purpose: Purpose) -> bool:
    """Whether a value has all the axes of its buffer, and none that the buffer lacks."""
    axes = {_axis(name, purpose) for name in _NAMED.findall(shape) if not name.isdigit()}
    counts = {axis: product(purpose.parameters.get(axis, "")) for axis in ("rows", "cols")}
    held: Count = Counter()
    for axis in axes:
        count = counts.get(axis)
        if count is None:
            return True  # it cannot be known
        held += count
    others = (count for axis, count in counts.items() if axis not in axes and count)
    return elements >= held and not any(elements >= held + other for other in others)


def _axis(name: str, purpose: Purpose) -> str:
    """What an axis is a part of."""
    if name != "tile":
        return name
    by_rows = "rows" in purpose.parameters and not purpose.way.startswith(COLUMNS)
    return "rows" if by_rows else "cols"
