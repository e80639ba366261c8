# SPDX-License-Identifier: Apache-2.0
"""How kernels go over their elements or rows, or those of each outer index."""

from __future__ import annotations

from npuforge.spec.size import Size

FIRST = "    first = tl.program_id(0) * per_core"
OVER_ELEMENTS = """\
    last = min(first + per_core, cols)
    for t in range(tl.cdiv(last - first, tile)):
        start = first + t * tile
        m = min(tile, last - start)
"""
OVER_ROWS = """\
    last = min(first + per_core, units)
    for u in range(first, last):
        start = u * tile
        n = min(tile, rows - start)
"""
OVER_OUTER = """\
    last = min(first + per_core, units)
    for u in range(first, last):
        start = u % tiles * tile
        i0 = u // tiles
        n = min(tile, rows - start)
"""
OVER_OUTER_ELEMENTS = """\
    last = min(first + per_core, units)
    for u in range(first, last):
        start = u % tiles * tile
        i0 = u // tiles
        m = min(tile, cols - start)
"""


def counted(count: Size) -> str:
    """What a kernel calls the number of elements that it goes over: a number has no name."""
    return "cols" if count.known is None else str(count.known)


def over_elements(count: Size) -> str:
    """The loop over so many elements."""
    return OVER_ELEMENTS.replace("cols", counted(count))
